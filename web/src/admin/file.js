// Files that the pages write. One of many pages is written to the disk page by page (the origin's private file system),
// and given to the browser as a download once it is whole; where there is none, it is collected in memory.

const NAME = 'export.part';

/** Begins a file. Answers {write(text), done(name), drop()}. */
export async function beginFile() {
  try {
    const folder = await navigator.storage.getDirectory();
    const handle = await folder.getFileHandle(NAME, { create: true });
    const out = await handle.createWritable(); // begins empty
    return {
      write: (text) => out.write(text),
      async done(name) {
        await out.close();
        give(await handle.getFile(), name);
      },
      drop: () => out.abort(),
    };
  } catch {
    const parts = [];
    return { write: async (text) => parts.push(text), done: async (name) => give(new Blob(parts), name), drop: async () => parts.splice(0) };
  }
}

/** Removes what an earlier export left on the disk. */
export async function forgetFile() {
  try {
    await (await navigator.storage.getDirectory()).removeEntry(NAME);
  } catch {
    return; // there is none
  }
}

function give(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
