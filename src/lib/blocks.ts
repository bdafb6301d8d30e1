// Blocks of memory that serve again. V8 collects its whole heap whenever some tens of megabytes of buffers were made, whoever made them:
// with large answers that is every second, and costs more than the answers.

/** Bytes of a block. */
export const blockSize = 65_536

/** Most blocks that are kept. */
const most = 128

const kept: Buffer[] = []

/** A block, and how far it is filled. */
export interface Block {
  readonly bytes: Buffer
  end: number
}

/** Blocks that are filled one after the other for one purpose, and given back together. */
export class Memory {
  readonly #blocks: Block[] = []
  #isGivenBack = false

  /** The blocks, in order. @throws Error after `giveBack` */
  get blocks(): readonly Block[] {
    this.mustBeThere()
    return this.#blocks
  }

  /** Bytes for which the last block has room. */
  get room(): number {
    const last = this.#blocks.at(-1)
    return last ? blockSize - last.end : 0
  }

  /** Returns the last block, or a further one if it has no room for so many bytes, which are at most `blockSize`. @throws Error after `giveBack` */
  blockFor(bytes: number): Block {
    this.mustBeThere()
    const last = this.#blocks.at(-1)
    if (last && last.end + bytes <= blockSize) return last
    const next = { bytes: kept.pop() ?? Buffer.allocUnsafeSlow(blockSize), end: 0 }
    this.#blocks.push(next)
    return next
  }

  /** @throws Error after `giveBack`: the blocks may have another's data in them */
  mustBeThere(): void {
    if (this.#isGivenBack) throw new Error('This memory has been given back.')
  }

  /** Gives the blocks back: nothing may read them any more. Those of a memory that is forgotten are collected. */
  giveBack(): void {
    this.#isGivenBack = true
    for (const { bytes } of this.#blocks.splice(0)) if (kept.length < most) kept.push(bytes)
  }
}
