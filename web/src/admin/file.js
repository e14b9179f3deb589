// Files that the pages write. One of many pages is written to the disk page by page (the origin's private file system),
// and given to the browser as a download once it is whole; where there is none, it is collected in memory.

const PREFIX = 'export-';
const KEPT = 3_600_000; // ms after which a file that was given to the browser is removed

/** Begins a file. Answers {write(text), done(name), drop()}. */
export async function beginFile() {
  try {
    const folder = await navigator.storage.getDirectory();
    for await (const old of folder.keys()) {
      if (old.startsWith(PREFIX) && Number(old.slice(PREFIX.length)) < Date.now() - KEPT) await folder.removeEntry(old).catch(() => {}); // another tab still writes it
    }
    const name = PREFIX + Date.now();
    const handle = await folder.getFileHandle(name, { create: true });
    const out = await handle.createWritable();
    return {
      write: (text) => out.write(text),
      async done(as) {
        await out.close();
        give(await handle.getFile(), as);
      },
      async drop() {
        await out.abort();
        await folder.removeEntry(name);
      },
    };
  } catch {
    const parts = [];
    return { write: async (text) => parts.push(text), done: async (as) => give(new Blob(parts), as), drop: async () => parts.splice(0) };
  }
}

function give(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
