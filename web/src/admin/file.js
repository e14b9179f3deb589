// Files that the pages write. One of many pages is written to the disk page by page (the origin's private file system),
// and given to the browser as a download once it is whole; where there is none, it is collected in memory. A minute later
// it is removed, or when the session ends: whoever uses this browser next does not find it.

const PREFIX = 'export-';
const KEPT = 60_000; // ms in which the browser copies a file that it was given

/** Begins a file. Answers {write(text), done(name), drop()}. */
export async function beginFile() {
  try {
    const folder = await navigator.storage.getDirectory();
    const name = PREFIX + Date.now();
    const handle = await folder.getFileHandle(name, { create: true });
    const out = await handle.createWritable();
    return {
      write: (text) => out.write(text),
      async done(as) {
        await out.close();
        give(await handle.getFile(), as);
        setTimeout(() => folder.removeEntry(name).catch(() => {}), KEPT); // of a page that is left: removeOld
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

/** Removes files that were begun before a time, all unless it is given; not those that are being written. */
export async function removeFiles(before = Infinity) {
  try {
    const folder = await navigator.storage.getDirectory();
    for await (const name of folder.keys()) {
      if (name.startsWith(PREFIX) && Number(name.slice(PREFIX.length)) < before) await folder.removeEntry(name).catch(() => {});
    }
  } catch {
    return; // there are no private files
  }
}

/** Removes files of a page that was left. */
export const removeOld = () => removeFiles(Date.now() - KEPT);

function give(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
}
