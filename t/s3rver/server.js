// server.js - s3rver, changed to refuse what S3 refuses, for the tests.
//
//     node server.js '{"modules": FOLDER, "directory": FOLDER, "port": 0}'
//
// Prints {"port":N} when it listens, then answers commands: a line of JSON on
// standard input, a line of JSON on standard output.  Exits when standard input
// ends, so it never outlives a test.  t/lib/SymS3.pm is the other end, and
// explains what is s3rver's part and what is ours.
'use strict';

const { AsyncLocalStorage } = require('async_hooks');
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
const S3Object = load('s3rver/lib/models/object');
const { DUMMY_ACCOUNT } = load('s3rver/lib/models/account');
const { SignatureV4 } = load('@smithy/signature-v4');

const region = config.region || 'us-east-1';
const keys = new Map();    // access key => { secret, token, expired }
const buckets = new Map(); // name => { public, list }
const requests = [];
const faults = [];         // see SymS3.pm
let held = [];             // requests that wait for a command
let knowsConditions = true;
const context = new AsyncLocalStorage(); // of the request

const PART_MIN = 5 << 20;  // bytes of all parts of an upload but the last

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
    await context.run(ctx, () => answerOrFail(ctx, next));
  } catch (err) {
    // a client that may not list a bucket is not told what is absent from it
    throw err.code === 'NoSuchKey' && bucket && !bucket.list
      ? accessDenied() : err;
  }
}

// --- faults ---

function takeFault(ctx) {
  const fault = faults.find(f => f.left !== 0 && f.method === ctx.method
    && (!f.url || new RegExp(f.url).test(ctx.originalUrl)));

  if (fault) {
    fault.left--;
  }
  return fault;
}

function drained(request) {
  return new Promise((resolve) => {
    if (request.readableEnded || request.destroyed) {
      resolve();
      return;
    }
    request.on('end', resolve).on('close', resolve).resume();
  });
}

// Answers a request, or does what a fault says.
async function answerOrFail(ctx, next) {
  const fault = takeFault(ctx);

  if (fault && fault.hold) {
    await new Promise(resolve => held.push(resolve));
  }
  if (fault && fault.stall) {
    await new Promise(resolve => ctx.req.on('close', resolve));
    throw new S3Error('RequestTimeout', 'it was stalled');
  }
  if (fault && fault.code) {
    // a client that still sends might not see the answer before a reset
    await drained(ctx.req);
    throw new S3Error(fault.code, 'as a test wants it');
  }

  // s3rver does not have this method
  if (ctx.method === 'DELETE' && ctx.query.uploadId) {
    await abortUpload(ctx);
  } else {
    await next();
  }

  if (fault && fault.lose) {
    await new Promise(resolve => ctx.req.on('close', resolve));
    throw new S3Error('RequestTimeout', 'its answer was lost');
  }
  if (fault && fault.body) {
    ctx.body = fault.body;
  }
  for (const [name, value] of Object.entries((fault && fault.headers) || {})) {
    ctx.set(name, value);
  }
}

// --- the server ---

const server = new S3rver({
  address: '127.0.0.1',
  port: config.port || 0,
  directory: config.directory,
  silent: true,
});

// --- conditions of writes, as S3 checks them ---

// At the time when the object would be replaced.
async function checkCondition(bucket, key) {
  const { req } = context.getStore();
  const match = req.headers['if-match'];
  const none = req.headers['if-none-match'];

  if (match === undefined && none === undefined) {
    return;
  }
  if (!knowsConditions) {
    throw new S3Error('NotImplemented', 'A header you provided implies ' +
      'functionality that is not implemented.');
  }
  if (none !== undefined && none !== '*') {
    throw new S3Error('NotImplemented', 'If-None-Match must be *.');
  }

  const file = server.store.getResourcePath(bucket, key, 'object');
  const exists = fs.existsSync(file);
  if (none !== undefined ? exists
    : exists && match !== `"${await etagOf(bucket, key)}"`) {
    throw new S3Error('PreconditionFailed', 'At least one of the ' +
      'pre-conditions you specified did not hold');
  }
  if (match !== undefined && !exists) {
    throw new S3Error('NoSuchKey', 'The specified key does not exist.');
  }
}

async function etagOf(bucket, key) {
  const file = server.store.getResourcePath(bucket, key, 'object.md5');
  return fs.promises.readFile(file, 'utf8');
}

// An object consists of several files: one request at a time opens or replaces
// them.
let turn = Promise.resolve();

function inTurn(what) {
  const result = turn.then(what);
  turn = result.catch(() => {});
  return result;
}

// Writes a body to a new file, if it is the one that Content-MD5 names, and
// calls replace() with its name, size and digest.
async function writeChecked(content, file, replace) {
  const part = `${file}.${crypto.randomUUID()}`;
  const md5 = crypto.createHash('md5');
  const claimed = context.getStore().get('content-md5');
  let size = 0;

  try {
    await pipeline(content, new Transform({
      transform(chunk, encoding, callback) {
        md5.update(chunk);
        size += chunk.length;
        callback(null, chunk);
      },
    }), fs.createWriteStream(part));

    const digest = md5.digest();
    if (claimed && claimed !== digest.toString('base64')) {
      throw new S3Error('BadDigest', 'The Content-MD5 you specified did not ' +
        'match what we received.');
    }
    const written = { size, md5: digest.toString('hex') };
    await inTurn(() => replace(part, written));
    return written;
  } catch (err) {
    await fs.promises.rm(part, { force: true });
    throw err;
  }
}

// s3rver itself writes into the file that others read, and answers before it is
// complete; an object of S3 changes atomically.
server.store.putObject = async function putObject(object) {
  const file = this.getResourcePath(object.bucket, object.key, 'object');

  await fs.promises.mkdir(path.dirname(file), { recursive: true });
  return writeChecked(object.content, file, async (part, { md5 }) => {
    await checkCondition(object.bucket, object.key);
    await fs.promises.rename(part, file);
    await this.putMetadata(object.bucket, object.key, object.metadata, md5);
  });
};

const { getObject } = server.store;
server.store.getObject = function getWhole(...args) {
  return inTurn(() => getObject.apply(this, args));
};

// --- uploads in parts, whose ids, sizes and ETags s3rver does not check ---

async function uploadFolder(bucket, uploadId) {
  const folder = path.join(
    server.store.getResourcePath(bucket, undefined, 'uploads'), uploadId);

  if (!/^[0-9a-f]+$/.test(uploadId) || !fs.existsSync(folder)) {
    throw new S3Error('NoSuchUpload', 'The specified upload does not exist.');
  }
  return folder;
}

server.store.putPart = async function putPart(bucket, uploadId, number, content) {
  const folder = await uploadFolder(bucket, uploadId);
  const file = path.join(folder, number);
  const written = await writeChecked(content, file,
    part => fs.promises.rename(part, file));

  await fs.promises.writeFile(path.join(folder, `${number}.md5`), written.md5);
  return written;
};

server.store.putObjectMultipart = async function complete(bucket, uploadId, parts) {
  const folder = await uploadFolder(bucket, uploadId);
  const text = name => fs.promises.readFile(path.join(folder, name), 'utf8');
  const all = crypto.createHash('md5');
  const key = await text('key');
  const file = this.getResourcePath(bucket, key, 'object');
  const whole = `${file}.${uploadId}`;
  let size = 0;

  await fs.promises.mkdir(path.dirname(file), { recursive: true });
  await fs.promises.writeFile(whole, '');
  for (const [i, part] of parts.entries()) {
    const md5 = await text(`${part.number}.md5`).catch(() => '');
    if (md5 === '' || md5 !== part.etag) {
      throw new S3Error('InvalidPart', 'One or more of the specified parts ' +
        'could not be found.');
    }
    const bytes = await fs.promises.readFile(path.join(folder, `${part.number}`));
    if (bytes.length < PART_MIN && i + 1 < parts.length) {
      throw new S3Error('EntityTooSmall', 'Your proposed upload is smaller ' +
        'than the minimum allowed size');
    }
    await fs.promises.appendFile(whole, bytes);
    all.update(md5, 'hex');
    size += bytes.length;
  }

  const md5 = `${all.digest('hex')}-${parts.length}`;
  const { metadata } = new S3Object(bucket, key, null,
    JSON.parse(await text('metadata')));
  delete metadata['content-length'];
  await inTurn(async () => {
    await checkCondition(bucket, key).catch(async (err) => {
      await fs.promises.rm(whole);
      throw err;
    });
    await fs.promises.rename(whole, file);
    await this.putMetadata(bucket, key, metadata, md5);
  });
  await fs.promises.rm(folder, { recursive: true });
  return { size, md5 };
};

async function abortUpload(ctx) {
  const [, bucket] = ctx.path.split('/');

  await fs.promises.rm(await uploadFolder(bucket, ctx.query.uploadId),
    { recursive: true });
  ctx.status = 204;
}

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
  fault(fault) {
    faults.push({ ...fault, left: fault.times === undefined ? 1 : fault.times });
  },
  faults() {
    faults.length = 0;
  },
  conditions({ known }) {
    knowsConditions = Boolean(known);
  },
  release() {
    held.forEach(resolve => resolve());
    held = [];
  },
  uploads({ name }) {
    const folder = server.store.getResourcePath(name, undefined, 'uploads');
    return fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  },
  log() {
    return requests.map(({ ctx, method, url, signed }) => ({
      method, url, signed,
      match: ctx.req.headers['if-match'],
      none: ctx.req.headers['if-none-match'],
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
