// An order that looks like chance and is the same in every run.

/** The same things in another order. */
export function shuffled<T>(things: readonly T[], seed = 1): T[] {
  let state = seed
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  return things
    .map(thing => ({ thing, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ thing }) => thing)
}
