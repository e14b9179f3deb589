// Runs function.js in nginx's njs, for the stand-in: makes CloudFront's events of nginx's requests. What nginx asks for
// as variables and in a filter is at the bottom.
import handler from './function_module.js';

function event(type, r, response) {
  const headers = {};
  for (const name in r.headersIn) headers[name.toLowerCase()] = { value: r.headersIn[name] };
  return {
    version: '1.0',
    context: { eventType: type },
    viewer: { ip: r.remoteAddress },
    request: { method: r.method, uri: r.variables.request_uri.split('?')[0], querystring: query(r), headers: headers, cookies: {} },
    response: response,
  };
}

function query(r) {
  const out = {};
  for (const name in r.args) out[name] = Array.isArray(r.args[name]) ? { value: r.args[name][0], multiValue: r.args[name] } : { value: r.args[name] };
  return out;
}

function path(r) {
  return asked(r).uri;
}

function parameter(name) {
  return function (r) {
    const query = asked(r).querystring;
    return query && query[name] ? query[name].value : '';
  };
}
const page = parameter('page');
const size = parameter('size');
const lang = parameter('lang');

function asked(r) {
  return handler(event('viewer-request', r));
}

function language(r) {
  return asked(r).headers['accept-language'].value;
}

function address(r) {
  return asked(r).headers['x-viewer-address'].value;
}

function generated(r) {
  return asked(r).statusCode ? '1' : '';
}

function generate(r) {
  const answer = asked(r);
  for (const name in answer.headers) r.headersOut[name] = answer.headers[name].value;
  r.headersOut['X-Cache'] = 'FunctionGeneratedResponse from cloudfront';
  r.return(answer.statusCode, r.method === 'HEAD' ? '' : answer.body.data);
}

// stamp runs the function on an answer. CloudFront runs none on answers from 400 on.
function stamp(r) {
  if (r.status >= 400) return;
  const changed = handler(event('viewer-response', r, { statusCode: r.status, headers: {} })).headers;
  for (const name in changed) r.headersOut[name] = changed[name].value;
}

export default { path, page, size, lang, language, address, generated, generate, stamp };
