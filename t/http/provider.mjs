// An OpenID provider: oidc-provider, whose keys and clients stand in a file.
//
//     node provider.mjs NODE_MODULES CONFIG
//
// CONFIG is JSON: port, issuer, audience, jwks (private keys, the first of each
// type signs), client (id and secret).

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [modules, file] = process.argv.slice(2);
const config = JSON.parse(readFileSync(file, 'utf8'));

const { default: Provider } =
    await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));

const provider = new Provider(config.issuer, {
    jwks: config.jwks,
    cookies: { keys: ['of no use here'] },

    clients: [{
        client_id: config.client.id,
        client_secret: config.client.secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
    }],

    features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
            enabled: true,
            getResourceServerInfo: () => ({
                scope: 'read',
                audience: config.audience,
                accessTokenFormat: 'jwt',
                jwt: { sign: { alg: config.alg } },
            }),
        },
    },
});

provider.listen(config.port, '127.0.0.1');
