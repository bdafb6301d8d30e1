// Warming up: code is compiled as it gets hot, so that the first rounds of a process cost up to twice what the others cost.

/** Rounds at most. */
const most = 12

/** Rounds in a row without a gain, after which there is nothing left to gain: a single one may have met a busy moment. */
const enough = 2

/** Repeats a round until it gets no cheaper. @param round resolves to the CPU of a request */
export async function warmUp(round: () => Promise<number>): Promise<void> {
  let best = Infinity
  for (let count = 0, without = 0; count < most && without < enough; count++) {
    const cost = await round()
    without = cost > best * 0.97 ? without + 1 : 0
    best = Math.min(best, cost)
  }
}
