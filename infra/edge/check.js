// Checks of function.js, in the language of CloudFront's runtime, so that njs and Node run the same file: edge_test.go
// puts function.js and LANGUAGES before it. It prints each failure and throws at the end.
var failures = 0;

function same(what, got, want) {
  if (got === want) return;
  failures++;
  console.log('FAILED ' + what + ': got ' + JSON.stringify(got) + ', want ' + JSON.stringify(want));
}

function ask(method, uri, languages) {
  var headers = { authorization: { value: 'Bearer x' }, 'x-viewer-address': { value: '198.51.100.1' } };
  if (languages && languages.length > 0) {
    headers['accept-language'] = { value: languages[languages.length - 1] };
    if (languages.length > 1) headers['accept-language'].multiValue = languages.map(function (l) { return { value: l }; });
  }
  return handler({ context: { eventType: 'viewer-request' }, viewer: { ip: '203.0.113.9' }, request: { method: method, uri: uri, headers: headers, querystring: {} } });
}

function answered(status) {
  return handler({ context: { eventType: 'viewer-response' }, request: {}, response: { statusCode: status, headers: { 'x-now': { value: '1' } } } });
}

// LANGUAGES is shared/api/httpapi/testdata/languages.json.
LANGUAGES.forEach(function (c) {
  same('Accept-Language ' + JSON.stringify(c.headers), ask('GET', '/', c.headers).headers['accept-language'].value, c.want);
});
same('what else a request has', ask('POST', '/seckill/buy', ['en']).headers.authorization.value, 'Bearer x');

same('address', ask('GET', '/', []).headers['x-viewer-address'].value, '203.0.113.9');

same('pictures', ask('GET', '/pictures/a.jpg', []).headers.accept.value, 'image/jpeg');
same('no picture', ask('GET', '/', []).headers.accept, undefined);

// A path with a slash at its end is another one's, with its query.
function led(uri, q) {
  var answer = handler({ context: { eventType: 'viewer-request' }, viewer: { ip: '203.0.113.9' }, request: { method: 'POST', uri: uri, headers: {}, querystring: q } });
  return answer.statusCode + ' ' + answer.headers.location.value;
}
same('a slash', led('/seckill/ing/', {}), '308 /seckill/ing');
same('slashes and a query', led('/docs//', { a: { value: '1', multiValue: [{ value: '1' }, { value: '%32' }] }, b: { value: '' } }), '308 /docs?a=1&a=%32&b=');
same('another host', led('//elsewhere.example/', {}), '308 /elsewhere.example');
same('another host, by a backslash', led('/\\elsewhere.example/', {}), '308 /elsewhere.example');
same('slashes only', led('//', {}), '308 /');
same('the root', ask('GET', '/', []).uri, '/');
function query(uri, name, value, multi) {
  var q = {};
  q[name] = { value: value };
  if (multi) q[name].multiValue = [{ value: value }, { value: value }];
  q = handler({ context: { eventType: 'viewer-request' }, viewer: { ip: '203.0.113.9' }, request: { method: 'GET', uri: uri, headers: {}, querystring: q } }).querystring;
  return q[name] && q[name].value;
}
[['page', '1', '1'], ['page', '10000', '10000'], ['page', '10001', '0'], ['page', '01', '0'], ['page', '', '0'], ['page', '1e3', '0'], ['size', '100', '100'],
  ['size', '101', '0'], ['size', '-1', '0'], ['lang', 'en', 'en'], ['lang', 'zh', 'zh'], ['lang', 'fr', undefined]].forEach(function (c) {
  same('a list with ' + c[0] + '=' + c[1], query('/seckill/ing', c[0], c[1]), c[2]);
});
same('two pages', query('/seckill/will', 'page', '1', true), '0');
same('two languages', query('/', 'lang', 'en', true), undefined);
same('a size of one\'s own', query('/order/list', 'size', '1000'), '1000');

var before = Date.now();
['GET', 'HEAD'].forEach(function (method) {
  var time = ask(method, '/seckill/time');
  var body = JSON.parse(time.body.data);
  same(method + ' time: status', time.statusCode, 200);
  same(method + ' time: cache', time.headers['cache-control'].value, 'no-store');
  same(method + ' time: it is now', body.now_ms >= before && body.now_ms <= Date.now(), true);
  same(method + ' time: both forms', Math.floor(body.now_ms / 1000) * 1000, Date.parse(body.now));
  same(method + ' time: form', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(body.now), true);
});
same('POST time goes on', ask('POST', '/seckill/time').uri, '/seckill/time');
same('another path goes on', ask('GET', '/seckill/times').uri, '/seckill/times');

[200, 204, 206, 301, 304, 399].forEach(function (status) {
  same('stamp on ' + status, Number(answered(status).headers['x-now'].value) >= before, true);
});
[400, 403, 404, 429, 500, 503].forEach(function (status) {
  same('no stamp on ' + status, answered(status).headers['x-now'].value, '1');
});

if (failures > 0) throw new Error(failures + ' checks of function.js failed');
console.log(JSON.stringify(ask('GET', '/seckill/time')));
