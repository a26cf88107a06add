// Documents of three kinds, each changed at a few places, with ajv's verdict:
// what t/schema/lines.c reads.
//
//     NODE_PATH=build/node/node_modules node t/schema/ajv.js SEED COUNT
//
// The same seed makes the same documents.

'use strict';

const fs = require('fs');
const path = require('path');

const Ajv = require('ajv/dist/2020').default;
const addFormats = require('ajv-formats').default;

const root = path.join(__dirname, '../..');
const seed = Number(process.argv[2]);
const count = Number(process.argv[3]);

if (!Number.isInteger(seed) || !(count > 0)) {
    console.error('usage: ajv.js SEED COUNT');
    process.exit(2);
}


const read = name => JSON.parse(fs.readFileSync(path.join(root, name)));

const kinds = [
    {
        name: 'relay',
        schema: 'schema/relay.context-package.v1.json',
        bases: ['schema/examples/pilot.relay.json',
                'schema/examples/brief.relay.json',
                'schema/examples/brief.relay.json'].map(read),
    },
    {
        name: 'packet',
        schema: 'schema/ghostlight.responder_packet.v0.json',
        bases: ['schema/examples/packet.json'].map(read),
    },
    {
        name: 'features',
        schema: 't/schema/features.json',
        bases: [{
            pattern: 'ab-12 ', multiple: 2.5, range: 'abc', unique: [1, '1'],
            tuple: ['a', [3], true, 4], closed: [0, { a: [1, 2] }],
            contains: [1, 2, 'x'], names: { ab: 1 },
            patterned: { ab: 'xy', a1: 'xy', b: 3 },
            dependent: { a: 1, b: 2, c: 3 }, all: 4, any: 'a@b.example',
            one: { a: 1 }, when: { a: 1, b: 2 }, rest: { a: 1, b: 'x' },
            others: [1, 'x', null],
            tree: { value: 1, children: [{ value: 2, children: [] }] },
        }],
    },
];


for (const kind of kinds) {
    const ajv = new Ajv({ strict: false });

    addFormats(ajv);
    kind.schema = read(kind.schema);
    kind.validate = ajv.compile(kind.schema);
    kind.words = words(kind.schema);
}


// Names of members and values that a schema knows.

function words(schema) {
    const found = { names: new Set(['a', 'b', 'c', 'x', '']), values: [] };

    (function walk(s) {
        if (s === null || typeof s !== 'object') {
            return;
        }

        if (!Array.isArray(s)) {
            Object.keys(s.properties || {}).forEach(n => found.names.add(n));
            found.values.push(...(s.enum || []));

            if ('const' in s) {
                found.values.push(s.const);
            }
        }

        Object.values(s).forEach(walk);
    })(schema);

    found.names = [...found.names];

    return found;
}


// mulberry32

let state = seed >>> 0;

function random() {
    state = state + 0x6d2b79f5 >>> 0;

    let t = state;

    t = Math.imul(t ^ t >>> 15, t | 1);
    t ^= t + Math.imul(t ^ t >>> 7, t | 61);

    return ((t ^ t >>> 14) >>> 0) / 4294967296;
}

const below = n => Math.floor(random() * n);
const pick = list => list[below(list.length)];
const chance = p => random() < p;


const numbers = [0, -0, 1, 2, 3, 5, 6, 9, 10, -1, -2, -3, 0.5, 1.5, 0.1, 2.25,
    100, 1e21, 1e-7, 1e300, 2 ** 53, 2 ** 53 - 1, -(2 ** 31), 4.5, 1e15 + 0.5];

const characters = ['a', 'b', 'c', 'Z', '0', '9', ' ', '-', '.', '@', ':', '+',
    'T', 'z', '\n', '\t', '"', '\\', '/', '\u0000', '\u007f', '\u00e9',
    '\u00a0', '\u2028', '\ufeff', '\u20ac', '\ud83d\udca9', '_', '~'];


function dateTime() {
    const two = n => String(below(n)).padStart(2, '0');

    return pick(['2026', '2024', '1900', '2000', '0000', '9999']) + '-'
        + pick(['01', '02', '02', '12', '06', two(14)]) + '-'
        + pick(['01', '28', '29', '30', '31', two(33)])
        + pick(['T', 'T', 'T', 't', ' ', '\u00a0', '\u2003', '\n', 'x', ''])
        + pick(['23:59', '00:00', '15:59', '23:60', '24:00', two(25) + ':'
                + two(62)])
        + pick([':00', ':59', ':60', ':60', ':61', ''])
        + pick(['', '', '.5', '.123456789012', '.'])
        + pick(['Z', 'Z', 'z', '+00:00', '-08:00', '+0130', '+05', '+24:00',
                '-23:59', '+00:60', '+1', ''])
        + pick(['', '', '', '', ' ']);
}


function email() {
    const part = () => pick(['a', 'ab', 'a-b', 'A1', '-a', 'a-', '', 'a_b',
                             '\u00e9', 'x+y', '%', '\'']);

    return part() + pick(['', '', '.' + part(), '.']) + pick(['@', '@', '@',
        '@@', '']) + part() + pick(['.', '.', '.', '', '..']) + pick(['example',
        'c', '1', 'c-', 'b.c', '']);
}


// A string changed at one place.

function edit(s) {
    const points = Array.from(s);
    const at = below(points.length + 1);

    points.splice(at, below(2), ...(chance(0.7) ? [pick(characters)] : []));

    return points.join('');
}


function text(kind) {
    switch (below(8)) {
    case 0:
        return '';

    case 1:
        return dateTime();

    case 2:
        return email();

    case 3:

        // around the lengths that are limited

        return pick(['x', '\u00e9', '\ud83d\udca9']).repeat(
            pick([1, 2, 3, 4, 5, 299, 300, 301, 599, 600, 601]));

    case 4: {
        const value = pick(kind.words.values);

        return typeof value === 'string' ? value : 'two';
    }

    case 5:
        return pick(['ab', 'abc-12', 'abc-1234', 'ab-12 ', 'ab\n', 'AB']);

    default:
        return Array.from({ length: below(6) }, () => pick(characters))
            .join('');
    }
}


function value(kind, depth) {
    switch (below(depth > 2 ? 7 : 10)) {
    case 0:
        return null;

    case 1:
        return chance(0.5);

    case 2:
    case 3:
        return pick(numbers);

    case 4:
    case 5:
        return text(kind);

    case 6:
        return structuredClone(pick(kind.words.values));

    case 7:
    case 8:
        return Array.from({ length: below(5) }, () => value(kind, depth + 1));

    default: {
        const object = {};

        for (let n = below(4); n > 0; n--) {
            object[pick(kind.words.names)] = value(kind, depth + 1);
        }

        return object;
    }
    }
}


// Every place of a document: its container and its key there.

function places(doc) {
    const found = [];

    (function walk(container) {
        for (const key of Object.keys(container)) {
            found.push([container, key]);

            if (container[key] !== null && typeof container[key] === 'object') {
                walk(container[key]);
            }
        }
    })(doc);

    return found;
}


function change(kind, doc) {
    const all = places(doc);

    if (all.length === 0) {
        doc.a = value(kind, 0);
        return;
    }

    const [container, key] = pick(all);
    const old = container[key];

    const remove = () => {
        if (Array.isArray(container)) {
            container.splice(Number(key), 1);

        } else {
            delete container[key];
        }
    };

    switch (below(8)) {
    case 0:
        remove();
        return;

    case 1:
        container[key] = value(kind, 0);
        return;

    case 2: {
        const [other, name] = pick(all);

        container[key] = structuredClone(other[name]);
        return;
    }

    default:
        break;
    }

    if (typeof old === 'string') {
        container[key] = chance(0.5) ? edit(old) : text(kind);

    } else if (typeof old === 'number') {
        container[key] = chance(0.5) ? pick(numbers) : old + pick([1, -1, 0.5]);

    } else if (typeof old === 'boolean') {
        container[key] = !old;

    } else if (Array.isArray(old)) {

        if (chance(0.3)) {
            old.length = 0;

        } else if (chance(0.5) && old.length > 0) {
            old.push(structuredClone(pick(old)));

        } else {
            old.splice(below(old.length + 1), 0, value(kind, 1));
        }

    } else if (old !== null) {
        old[pick(kind.words.names)] = value(kind, 1);

    } else {
        container[key] = value(kind, 1);
    }
}


// The document's text, in one of the many ways that mean the same.

function write(doc, plain) {
    if (plain) {
        return JSON.stringify(doc);
    }

    const space = () => chance(0.1) ? pick([' ', '\t', '  ']) : '';

    const string = s => JSON.stringify(s).replace(/[a-zA-Z\/]/g, (c, at, all) =>
        c === '/' ? pick(['/', '\\/'])
        : all[at - 1] === '\\' || /\\u[0-9a-f]{0,3}$/.test(all.slice(0, at))
        || !chance(0.05) ? c
        : '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

    const number = n => {
        const s = Object.is(n, -0) ? '-0' : JSON.stringify(n);

        switch (/^-?[1-9]\d*$/.test(s) ? below(4) : 3) {
        case 0:
            return s + '.0';

        case 1:
            return s + 'e0';

        case 2:
            return s + '0E-1';

        default:
            return s;
        }
    };

    return (function any(v) {
        if (typeof v === 'string') {
            return string(v);
        }

        if (typeof v === 'number') {
            return number(v);
        }

        if (v === null || typeof v !== 'object') {
            return String(v);
        }

        if (Array.isArray(v)) {
            return '[' + space() + v.map(e => any(e) + space()).join(',') + ']';
        }

        return '{' + space() + Object.keys(v).map(k => string(k) + space() + ':'
            + space() + any(v[k])).join(',') + '}';
    })(doc);
}


function print(s) {
    const bytes = Buffer.from(s);

    for (let n = 0; n < bytes.length; /* void */) {
        n += fs.writeSync(1, bytes, n);
    }
}


let batch = '';

for (let i = 0; i < count; i++) {
    const kind = kinds[i % kinds.length];
    const doc = structuredClone(pick(kind.bases));

    for (let n = pick([0, 1, 1, 1, 2, 2, 3, 8]); n > 0; n--) {
        change(kind, doc);
    }

    const line = write(doc, chance(0.5));

    // what is judged is what the text says

    batch += kind.name + ' ' + (kind.validate(JSON.parse(line)) ? 1 : 0) + ' '
        + line + '\n';

    if (batch.length > 1 << 20) {
        print(batch);
        batch = '';
    }
}

print(batch);
