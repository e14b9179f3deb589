// Asks for what the page shows first while app.js is still on its way: on a slow phone that is half a second. It stands
// in index.html itself, so it must stay small; the page's policy allows it by its hash. api.js takes the answers.
if (document.visibilityState !== 'hidden' && !/^#\/order/.test(location.hash)) {
  const [, item] = /^#\/item\/(\d+)$/.exec(location.hash) || [];
  globalThis.early = {};
  for (const path of item ? [`seckill/detail/${item}`] : ['seckill/ing?page=1&size=50', 'seckill/will?page=1&size=50']) {
    globalThis.early[path] = fetch(path, { credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(10_000) })
      .then(async (response) => [response, await response.json()])
      .catch(() => undefined); // api.js asks again
  }
}
