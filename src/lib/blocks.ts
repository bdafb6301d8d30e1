// Reusable blocks of memory. Every few tens of megabytes of new buffers, V8 runs a garbage collection of the whole heap: with large
// replies that happens every second, and takes a third of the service's CPU time.

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

/** Blocks that one owner fills in order and gives back together. */
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

  /** Gives the blocks back for reuse: nothing may read them any more. Blocks that are never given back become garbage. */
  giveBack(): void {
    this.#isGivenBack = true
    for (const { bytes } of this.#blocks.splice(0)) if (kept.length < most) kept.push(bytes)
  }
}
