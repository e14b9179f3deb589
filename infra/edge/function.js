// The CDN's function (CloudFront Functions, cloudfront-js-2.0), for every behaviour, before the cache and after it.
// Before: it answers the server's time, so that a million clocks are set without a call; reduces Accept-Language to one
// of the two languages that there are, and bounds queries, so that caches do not keep copies without end; leads from a
// path with a slash at its end to the one without; says from which address a request came, whatever the viewer says; and
// asks for pictures as such, else API Gateway answers with base64. After: it stamps the time on answers below 400, also on
// those that a cache kept. It knows nothing of sales and refuses nobody.
//
// The runtime knows ES5.1 and parts of later versions: no class, destructuring, spread, default parameters, for-of, Map,
// optional chaining. At most 10 KB. Debian's njs refuses the same; `make edge` runs this file in both njs and Node.

// As function shop answers (shared/api/httpapi); answers made here pass no headers policy.
var HEADERS = {
  'content-type': { value: 'application/json' },
  'cache-control': { value: 'no-store' },
  'content-security-policy': {
    value: "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  },
  'x-content-type-options': { value: 'nosniff' },
  'referrer-policy': { value: 'no-referrer' },
  'cross-origin-resource-policy': { value: 'same-origin' },
  'cross-origin-opener-policy': { value: 'same-origin' },
  'strict-transport-security': { value: 'max-age=31536000' },
};

function handler(event) {
  var now = Date.now();
  if (event.context.eventType === 'viewer-response') return stamped(event.response, now);
  var request = event.request;
  if (request.uri === '/seckill/time' && (request.method === 'GET' || request.method === 'HEAD')) return time(now);
  if (request.uri.length > 1 && request.uri[request.uri.length - 1] === '/') return moved(request);
  request.headers['x-viewer-address'] = { value: event.viewer.ip };
  request.headers['accept-language'] = { value: preferred(request.headers['accept-language']) };
  clamp(request.uri, request.querystring);
  if (request.uri.indexOf('/pictures/') === 0) request.headers.accept = { value: 'image/jpeg' };
  return request;
}

// moved leads to a path without the slash at its end: behaviours are chosen before this function runs, so such a path is
// never kept.
function moved(request) {
  var parts = [];
  for (var name in request.querystring) {
    var values = request.querystring[name].multiValue || [request.querystring[name]];
    for (var i = 0; i < values.length; i++) parts.push(name + '=' + values[i].value);
  }
  var path = '/' + request.uri.replace(/^[\/\\]+|\/+$/g, ''); // one slash first: two would name another host
  var headers = { location: { value: path + (parts.length > 0 ? '?' + parts.join('&') : '') } };
  for (var h in HEADERS) headers[h] = HEADERS[h];
  return { statusCode: 308, statusDescription: 'Permanent Redirect', headers: headers, body: { encoding: 'text', data: '' } };
}

// clamp leaves of a query what the API takes, of a list or a page: numbers in their bounds, for all others 0, which the
// API refuses; and a language that there is.
function clamp(path, query) {
  if (path === '/seckill/ing' || path === '/seckill/will') {
    bound(query, 'page', 10000);
    bound(query, 'size', 100);
  }
  var lang = query.lang;
  if (lang && (lang.multiValue || (lang.value !== 'zh' && lang.value !== 'en'))) delete query.lang;
}

function bound(query, name, most) {
  var q = query[name];
  if (q && (q.multiValue || !/^[1-9][0-9]{0,4}$/.test(q.value) || Number(q.value) > most)) query[name] = { value: '0' };
}

function stamped(response, now) {
  if (response.statusCode < 400) response.headers['x-now'] = { value: String(now) };
  return response;
}

function time(now) {
  var text = new Date(now).toISOString().slice(0, 19) + 'Z';
  return {
    statusCode: 200,
    statusDescription: 'OK',
    headers: HEADERS,
    body: { encoding: 'text', data: '{"now":"' + text + '","now_ms":' + now + '}' },
  };
}

// preferred returns 'zh' or 'en' as package httpapi does: the one with the larger weight, the earlier of equals, Chinese
// when neither is named.
function preferred(header) {
  var best = 0;
  var language = 'zh';
  var lines = header ? (header.multiValue || [header]) : [];
  for (var i = 0; i < lines.length; i++) {
    var parts = lines[i].value.split(',');
    for (var j = 0; j < parts.length; j++) {
      var part = parts[j].split(';');
      var tag = part[0].trim().split('-')[0].toLowerCase();
      var weight = part.length > 1 ? weightOf(part.slice(1).join(';').trim()) : 1;
      if ((tag === 'zh' || tag === 'en') && weight > best) {
        best = weight;
        language = tag;
      }
    }
  }
  return language;
}

// weightOf reads "q=0.8"; what is not a weight up to 1 counts as 0.
function weightOf(text) {
  var weight = Number(text.indexOf('q=') === 0 ? text.slice(2) : text);
  return weight <= 1 ? weight : 0;
}
