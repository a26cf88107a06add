// JSON.parse and ajv's compiled validator, as t/bench/schema.c does the same:
//
//     NODE_PATH=build/node/node_modules node t/bench/ajv.js SCHEMA DOCUMENT
//
// prints "ns N", the CPU time that one document takes.

'use strict';

const fs = require('fs');

const Ajv = require('ajv/dist/2020').default;
const addFormats = require('ajv-formats').default;

const SLICE = 300e6;            // ns of CPU that are measured, about
const WARM = 4000;              // documents before, for the compiler

const [schema, file] = process.argv.slice(2);
const text = fs.readFileSync(file, 'utf8');
const ajv = new Ajv();

addFormats(ajv);

const validate = ajv.compile(JSON.parse(fs.readFileSync(schema, 'utf8')));


function turn(times) {
    const before = process.cpuUsage();

    for (let i = 0; i < times; i++) {
        if (!validate(JSON.parse(text))) {
            console.error('ajv.js: the document is not valid');
            process.exit(2);
        }
    }

    const used = process.cpuUsage(before);

    return (used.user + used.system) * 1000 / times;
}


turn(WARM);

const times = Math.ceil(SLICE / turn(WARM / 4));

console.log('ns ' + turn(times).toFixed(1));
