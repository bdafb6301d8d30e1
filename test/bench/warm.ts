// Warming up: code is compiled as it gets hot, so that the first rounds of a process cost up to twice what the others cost.

/** Rounds at most. */
const most = 6

/** Repeats a round until it costs as much as the one before. @param round resolves to the CPU of a request */
export async function warmUp(round: () => Promise<number>): Promise<void> {
  let before = Infinity
  for (let count = 0; count < most; count++) {
    const cost = await round()
    if (cost > before * 0.97) return
    before = cost
  }
}
