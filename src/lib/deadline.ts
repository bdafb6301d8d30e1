// A deadline: the result of work if it ends in time, and a substitute otherwise.

/**
 * Waits for the work until the deadline. Work that ends later goes on, and its outcome is ignored, failures too.
 * @param late returns what stands for the work at the deadline, or throws
 * @throws what the work throws in time
 */
export async function withDeadline<T, Late>(
  work: Promise<T>,
  milliseconds: number,
  late: () => Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<() => Late>(done => {
    timer = setTimeout(done, milliseconds, late)
  })
  try {
    const ended = await Promise.race([work.then(result => () => result), deadline])
    return ended()
  } finally {
    clearTimeout(timer)
  }
}
