// What a test file leaves open is closed after its last test (each-file.ts), wherever in the file it was opened.

const open: (() => Promise<void>)[] = []

/** Runs after the file's last test; what was opened last is closed first. */
export function onCleanup(close: () => Promise<void>): void {
  open.push(close)
}

export async function cleanUp(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close()
}
