#!/usr/bin/env python3
"""cases.py CHECKOUT URL - asks a server what Symbolicator's own tests of JavaScript
and Java ask of Symbolicator, and compares the answers with those in the tests.

CHECKOUT is one of github.com/getsentry/symbolicator, from which the tests
(integration/*.rs), their files (tests/fixtures) and answers (snapshots, which
insta wrote as YAML) are read.  URL is the server's address.  A server of this
process plays Sentry: it answers with the list of the test, and with its files.
"""

import collections
import http.server
import json
import pathlib
import re
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zipfile

import yaml

Suite = collections.namedtuple('Suite', 'crate test fixtures uri')
SUITES = [
    Suite('symbolicator-js', 'sourcemap', 'sourcemaps', '/symbolicate-js'),
    Suite('symbolicator-proguard', 'proguard', 'proguard', '/symbolicate-jvm'),
]


# --- the tests ---

def balanced(text, start):
    """The text in the parentheses that open at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += {'(': 1, ')': -1}.get(text[i], 0)
        if depth == 0:
            return text[start + 1:i]
    raise ValueError('parentheses do not close')


def raw_text(text, values):
    """A string of Rust, or one that format!() makes."""
    found = re.search(r'(format!\(\s*)?r#"(.*?)"#', text, re.S)
    if found is None:
        return None
    body = found.group(2)
    if found.group(1):
        body = re.sub(r'(?<!{){(\w+)}(?!})', lambda m: values[m.group(1)], body)
        body = body.replace('{{', '{').replace('}}', '}')
    return body


def variables(body, base):
    values = {name: base + path for name, path in
              re.findall(r'let (\w+) = srv\.url\("([^"]*)"\)', body)}
    values.update(re.findall(r'let (\w+)(?:: DebugId)? = "([^"]*)"', body))
    for name in re.findall(r'let (\w+) = DebugId::from_uuid', body):
        values[name] = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
    for name, text in re.findall(r'let (frames\w*|modules) = (.*?);\n', body, re.S):
        values[name] = raw_text(text, values)
    return values


def argument(text, values):
    """An argument of make_js_request() or make_jvm_request()."""
    text = text.strip().lstrip('&')
    if text in values:
        return values[text]
    if text == 'None':
        return None
    return raw_text(text, values) or re.search(r'"(.*)"', text, re.S).group(1)


def split_arguments(text):
    parts = re.findall(r'r#".*?"#|"[^"]*"|,|[^,"]+', text, re.S)
    out = ['']
    for part in parts:
        if part == ',':
            out.append('')
        else:
            out[-1] += part
    return [part for part in out if part.strip()]


def lists_of(body):
    """What Sentry's lookup answers, perhaps by debug id; "@URL@" is the address of
    the files."""
    values = variables(body, '')
    for at in re.finditer(r'json!\(', body):
        text = re.sub(r'\s//[^\n]*', '', balanced(body, at.end() - 1))
        text = re.sub(r'format!\("{url}/([^"]*)"\)', r'"@URL@/\1"', text)
        text = re.sub(r'(":\s*)(\w+)(?=\s*[,}])',
                      lambda m: m[1] + json.dumps(values[m[2]]) if m[2] in values else m[0], text)
        yield json.loads(re.sub(r',(\s*[}\]])', r'\1', text))


def request_of(suite, body, base):
    values = variables(body, base)
    call = re.search(r'make_(js|jvm)_request', body)
    args = [argument(arg, values)
            for arg in split_arguments(balanced(body, call.end()))[1:]]
    source = {'type': 'sentry', 'id': 'sentry:project', 'url': base + '/lookup', 'token': 't'}
    if suite.uri == '/symbolicate-js':
        frames, modules, release, _ = args
        request = {'source': source, 'stacktraces': [{'frames': json.loads(frames)}],
                   'modules': json.loads(modules),
                   'scraping': {'enabled': 'scraping.enabled = true' in body,
                                'allowed_origins': ['*'], 'headers': {}},
                   'options': {'frame_order': 'callee_first'}}
        return dict(request, release=release) if release else request
    exception, frames, modules, package = args
    exception = json.loads(exception)
    request = {'sources': [source], 'exceptions': [exception], 'modules': json.loads(modules),
               'stacktraces': [{'frames': json.loads(frames), 'exception': exception}]}
    return dict(request, release_package=package) if package else request


def tests_of(suite, checkout):
    folder = checkout / 'crates' / suite.crate / 'tests/integration'
    text = (folder / f'{suite.test}.rs').read_text()
    for body in text.split('#[tokio::test]')[1:]:
        name = re.search(r'async fn (\w+)', body).group(1)
        if 'make_j' not in body or '#[ignore]' in body:
            continue  # it asks nothing
        fixtures = re.search(r'_server\(\s*"([^"]*)"', body).group(1)
        snapshot = folder / 'snapshots' / ('integration__%s__%s.snap' % (
            suite.test, re.sub('^test_', '', name)))
        yield name, body, checkout / 'tests/fixtures' / suite.fixtures / fixtures, snapshot


def true_ids(files, value, lists):
    """The same with the bundles' own debug ids: the tests give others, for which we,
    unlike Symbolicator, take no bundle (docs/use/compat-sentry.md)."""
    text = json.dumps(value)
    for entry in (e for entries in lists for e in entries if e.get('symbolType') == 'sourcebundle'):
        with zipfile.ZipFile(files / entry['id']) as z:
            text = text.replace(entry['debugId'], json.loads(z.read('manifest.json'))['debug_id'])
    return json.loads(text)


# --- Sentry ---

def serve(folder, lists):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def do_GET(self):
            url = urllib.parse.urlsplit(self.path)
            wanted = dict(urllib.parse.parse_qsl(url.query))
            if url.path == '/lookup' and 'id' not in wanted:
                base = 'http://127.0.0.1:%d' % self.server.server_port
                fitting = [entries for entries in lists if len(lists) == 1
                           or any(e['debugId'] == wanted['debug_id'] for e in entries)]
                body = json.dumps(fitting[0] if fitting else [])
                body = body.replace('@URL@', base + '/files').encode()
                self.send_response(200)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                return
            name = wanted.get('id') if url.path == '/lookup' else url.path.replace('/files', '', 1)
            self.path = '/' + name.lstrip('/')
            if url.path.startswith('/assets/'):
                self.path = '/missing/' + name
            super().do_GET()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


# --- answers ---

def plain(value, base):
    """Without ports, hours and the way in which snapshots show an origin."""
    if isinstance(value, list):
        return [plain(v, base) for v in value]
    if isinstance(value, dict):
        if set(value) in ({'scraped_file'}, {'individual_file'}):
            return plain(next(iter(value.values())), base)
        return {k: plain(v, base) for k, v in value.items() if v is not None}
    if isinstance(value, str):
        return re.sub(r'#\d{10}$', '', value.replace(base, 'http://localhost:<port>'))
    return value


def differences(want, got, where=''):
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(set(want) | set(got)):
            yield from differences(want.get(key), got.get(key), f'{where}.{key}')
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for i, (a, b) in enumerate(zip(want, got)):
            yield from differences(a, b, f'{where}[{i}]')
    elif want != got:
        yield f'{where}: want {json.dumps(want)}, got {json.dumps(got)}'


def ask(url, request):
    r = urllib.request.Request(url, json.dumps(request).encode(),
                               {'Content-Type': 'application/json'})
    with urllib.request.urlopen(r, timeout=60) as answer:
        return json.load(answer)


def compare(body, snapshot, got):
    expected = re.search(r'assert_eq!\(\s*response\.stacktraces\[0\]\.frames\[0\]\.function,'
                         r'.*?Some\("(\w+)"', body, re.S)
    if expected:
        return list(differences(expected.group(1),
                                got['stacktraces'][0]['frames'][0].get('function'), 'function'))
    want = list(yaml.safe_load_all(snapshot.read_text()))[-1]
    got.pop('status', None)
    want.pop('status', None)
    return list(differences(plain(want, 'http://localhost:<port>'), got))


def main():
    checkout, url = pathlib.Path(sys.argv[1]), sys.argv[2]
    same = total = 0
    for suite in SUITES:
        for name, body, files, snapshot in tests_of(suite, checkout):
            lists = list(lists_of(body))
            server = serve(files, true_ids(files, lists, lists))
            base = 'http://127.0.0.1:%d' % server.server_port
            try:
                request = true_ids(files, request_of(suite, body, base), lists)
                got = plain(ask(url + suite.uri, request), base)
                found = compare(body, snapshot, got)
            except urllib.error.HTTPError as e:
                found = [f'status {e.code}: {e.read().decode()[:200]}']
            server.shutdown()
            total += 1
            same += not found
            print(f'{"equal" if not found else "different":9} {suite.test}::{name}')
            for line in found:
                print('          ' + line)
    print(f'{total} tests, {same} answered alike')
    return 0 if same == total and total else 1


if __name__ == '__main__':
    sys.exit(main())
