// server.js - s3rver, changed to refuse what S3 refuses, for the tests.
//
//     node server.js '{"modules": FOLDER, "directory": FOLDER, "port": 0}'
//
// Prints {"port":N} when it listens, then answers commands: a line of JSON on
// standard input, a line of JSON on standard output.  Exits when standard input
// ends, so it never outlives a test.  t/lib/SymS3.pm is the other end, and
// explains what is s3rver's part and what is ours.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const { createRequire } = require('module');
const { Transform } = require('stream');
const { pipeline } = require('stream/promises');

const config = JSON.parse(process.argv[2]);
const load = createRequire(path.join(config.modules, 'node_modules/'));
const S3rver = load('s3rver');
const S3Error = load('s3rver/lib/models/error');
const { DUMMY_ACCOUNT } = load('s3rver/lib/models/account');
const { SignatureV4 } = load('@smithy/signature-v4');

const region = config.region || 'us-east-1';
const keys = new Map();    // access key => { secret, token, expired }
const buckets = new Map(); // name => { public, list }
const requests = [];

// --- signatures ---

// The hash that AWS's signer needs: SHA-256, or HMAC if there is a secret.
class Sha256 {
  constructor(secret) {
    this.hash = secret === undefined
      ? crypto.createHash('sha256')
      : crypto.createHmac('sha256', secret);
  }
  update(data) {
    this.hash.update(data);
  }
  async digest() {
    return new Uint8Array(this.hash.digest());
  }
}

function parseAuthorization(text) {
  const [, algorithm, rest] = /^(\S+)\s+(.*)$/.exec(text) || [];
  if (algorithm !== 'AWS4-HMAC-SHA256') {
    throw new S3Error('InvalidRequest', 'The authorization mechanism you ' +
      'have provided is not supported. Please use AWS4-HMAC-SHA256.');
  }

  const part = Object.fromEntries(rest.split(/,\s*/).map(
    item => [item.split('=', 1)[0], item.slice(item.indexOf('=') + 1)]));
  const scope = (part.Credential || '').split('/');
  if (scope.length !== 5 || !part.SignedHeaders || !part.Signature) {
    throw new S3Error('AuthorizationHeaderMalformed',
      'The authorization header is malformed.');
  }
  if (scope[2] !== region) {
    throw new S3Error('AuthorizationHeaderMalformed',
      'The authorization header is malformed; the region ' +
      `'${scope[2]}' is wrong; expecting '${region}'`, { Region: region });
  }
  return {
    accessKey: scope[0],
    credential: part.Credential,
    signedHeaders: part.SignedHeaders,
    signature: part.Signature,
  };
}

function keyFor(accessKey, token) {
  const key = keys.get(accessKey);
  if (!key || (key.token && token === undefined)) {
    throw new S3Error('InvalidAccessKeyId', 'The AWS Access Key Id you ' +
      'provided does not exist in our records.', { AWSAccessKeyId: accessKey });
  }
  if (key.expired) {
    throw new S3Error('ExpiredToken', 'The provided token has expired.');
  }
  if (token !== key.token) {
    throw new S3Error('InvalidToken',
      'The provided token is malformed or otherwise invalid.');
  }
  return key;
}

function checkHeaders(headers, signed) {
  const hash = headers['x-amz-content-sha256'];

  if (!/^\d{8}T\d{6}Z$/.test(headers['x-amz-date'])) {
    throw new S3Error('AccessDenied',
      'AWS authentication requires a valid Date or x-amz-date header');
  }
  if (hash === undefined) {
    throw new S3Error('InvalidRequest',
      'Missing required header for this request: x-amz-content-sha256');
  }

  const unsigned = Object.keys(headers).filter(
    name => (name === 'host' || name.startsWith('x-amz-'))
      && !signed.includes(name));
  if (unsigned.length) {
    throw new S3Error('AccessDenied', 'There were headers present in the ' +
      'request which were not signed', { HeadersNotSigned: unsigned.join(', ') });
  }
}

// S3 signs the path that it understood, not the one that was sent: decoded
// once, then encoded again.
function canonicalPath(rawPath) {
  return rawPath.split('/').map(
    part => encodeURIComponent(decodeURIComponent(part)).replace(/[!'()*]/g,
      c => '%' + c.charCodeAt(0).toString(16).toUpperCase())).join('/');
}

function queryOf(search) {
  const query = {};
  for (const [name, value] of new URLSearchParams(search)) {
    (query[name] = query[name] || []).push(value);
  }
  return query;
}

async function checkSignature(ctx) {
  const given = parseAuthorization(ctx.get('authorization'));
  const key = keyFor(given.accessKey, ctx.headers['x-amz-security-token']);
  const names = given.signedHeaders.split(';');
  const [rawPath, search] = ctx.originalUrl.split('?');

  checkHeaders(ctx.headers, names);
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials: {
      accessKeyId: given.accessKey,
      secretAccessKey: key.secret,
      sessionToken: key.token,
    },
    sha256: Sha256,
    uriEscapePath: false,
  });
  const date = ctx.headers['x-amz-date'].replace(
    /^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const request = {
    method: ctx.method,
    protocol: 'http:',
    hostname: ctx.hostname,
    path: canonicalPath(rawPath),
    query: queryOf(search),
    headers: Object.fromEntries(
      names.map(name => [name, ctx.headers[name] || ''])),
  };
  const signed = await signer.sign(request, {
    signingDate: new Date(date),
    signableHeaders: new Set(names),
  });
  const wanted = parseAuthorization(signed.headers.authorization);

  for (const part of ['credential', 'signedHeaders', 'signature']) {
    if (wanted[part] !== given[part]) {
      throw new S3Error('SignatureDoesNotMatch', 'The request signature we ' +
        'calculated does not match the signature you provided. Check your ' +
        'key and signing method.', { AWSAccessKeyId: given.accessKey });
    }
  }
}

// --- permissions ---

function accessDenied() {
  return new S3Error('AccessDenied', 'Access Denied');
}

// Runs when s3rver has found the bucket, but not checked any signature.
async function authorize(ctx, next) {
  const [, name, ...rest] = ctx.path.split('/');
  const bucket = buckets.get(name);
  const isRead = ['GET', 'HEAD'].includes(ctx.method) && rest.join('/') !== '';

  if (/[?&](X-Amz-|Signature=)/i.test(ctx.originalUrl)) {
    throw new S3Error('NotImplemented', 'signatures in a query are not checked');
  }
  if (ctx.get('authorization')) {
    await checkSignature(ctx);
  } else if (!isRead || !bucket || !bucket.public) {
    throw accessDenied();
  }

  try {
    await next();
  } catch (err) {
    // a client that may not list a bucket is not told what is absent from it
    throw err.code === 'NoSuchKey' && bucket && !bucket.list
      ? accessDenied() : err;
  }
}

// --- the server ---

const server = new S3rver({
  address: '127.0.0.1',
  port: config.port || 0,
  directory: config.directory,
  silent: true,
});

// s3rver itself writes into the file that others read, and answers before it is
// complete; an object of S3 changes atomically.
server.store.putObject = async function putObject(object) {
  const file = this.getResourcePath(object.bucket, object.key, 'object');
  const part = `${file}.${crypto.randomUUID()}`;
  const md5 = crypto.createHash('md5');
  let size = 0;

  await fs.promises.mkdir(path.dirname(file), { recursive: true });
  try {
    await pipeline(object.content, new Transform({
      transform(chunk, encoding, callback) {
        md5.update(chunk);
        size += chunk.length;
        callback(null, chunk);
      },
    }), fs.createWriteStream(part));
  } catch (err) {
    await fs.promises.rm(part, { force: true });
    throw err;
  }
  await fs.promises.rename(part, file);

  const digest = md5.digest('hex');
  await this.putMetadata(object.bucket, object.key, object.metadata, digest);
  return { size, md5: digest };
};

// s3rver's last middleware is its routes, which begin with its own check.
server.middleware.splice(server.middleware.length - 1, 0, authorize);

server.middleware.unshift((ctx, next) => {
  requests.push({ ctx, method: ctx.method, url: ctx.url,
    signed: Boolean(ctx.get('authorization')) });

  // S3 treats '+' in a path as a space
  const [rawPath, ...search] = ctx.url.split('?');
  ctx.originalUrl = ctx.req.originalUrl = ctx.url =
    [rawPath.replace(/\+/g, '%20'), ...search].join('?');

  try {
    decodeURIComponent(rawPath);
  } catch (err) {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
  return next();
});

server.on('error', err => {
  if (!(err instanceof S3Error) && err.code !== 'EPIPE'
      && err.code !== 'ECONNRESET') {
    console.error(err);
  }
});

// --- commands ---

const commands = {
  key({ access, secret, token, expired }) {
    keys.set(access, { secret, token, expired });
    DUMMY_ACCOUNT.createKeyPair(access, secret);
  },
  revoke({ access }) {
    keys.delete(access);
    DUMMY_ACCOUNT.revokeAccessKey(access);
  },
  async bucket({ name, public: isPublic, list }) {
    await server.store.putBucket(name);
    buckets.set(name, { public: Boolean(isPublic), list: Boolean(list) });
  },
  log() {
    return requests.map(({ ctx, method, url, signed }) => ({
      method, url, signed,
      status: ctx.res.headersSent ? ctx.res.statusCode : null,
    }));
  },
  forget() {
    requests.length = 0;
  },
};

async function answer(line) {
  try {
    const { command, ...args } = JSON.parse(line);
    return { value: (await commands[command](args)) || null };
  } catch (err) {
    return { error: String(err.stack || err) };
  }
}

async function main() {
  DUMMY_ACCOUNT.revokeAccessKey('S3RVER'); // its secret is public
  const { port } = await server.run();

  console.log(JSON.stringify({ port }));
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await answer(line)));
  }
}

main().then(() => process.exit(0), err => {
  console.error(err);
  process.exit(1);
});
