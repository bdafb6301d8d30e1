// A tar archive of texts, as npm packages are. https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html (ustar)

const BLOCK = 512

/** The archive of these files by path; paths have at most 100 bytes. Always the same bytes for the same files. */
export function tarOf(files: ReadonlyMap<string, string>): Buffer {
  const parts: Buffer[] = []
  for (const [path, text] of files) {
    const content = Buffer.from(text)
    parts.push(header(path, content.length), content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK))
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}

function header(path: string, size: number): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`the path ${path} is too long for an archive`)
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1')
  block.write(path, 0, 'utf8')
  octal(0o644, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(0, 136, 12)
  block.write('        ', 148, 'latin1')
  block.write('0', 156, 'latin1')
  block.write('ustar\u000000', 257, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}
