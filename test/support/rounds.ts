// How much tests do that could go on for ever: a few rounds of random cases, or all of them.

/** True in `npm run test:all`, for test files that are named on the command line, and outside of tests. */
export const isAll = process.env['TEST_ALL'] === '1' || process.env['VITEST'] === undefined

/** The number of rounds of a test that draws its cases at random, or picks some of too many. */
export const rounds = (few: number, all: number): number => (isAll ? all : few)
