// Programs that rest: a map that was compiled and checked, whose compiled form is dropped until it runs.

import type { Program, ProgramEnds } from './program.ts'

/**
 * Returns the same program, which keeps its compiled form only from its first run on. Few of the maps of a folder run in one process,
 * and the compiled form takes about 1 MB each.
 * @param known the program, or what it says of itself
 * @param compile compiles the same map with the same library again; a few milliseconds.
 */
export function resting(known: Program | ProgramEnds, compile: () => Program): Program {
  const { url, name, label, sources, targets } = known
  const compiled = 'run' in known ? new WeakRef(known) : undefined
  let running: Program | undefined
  return {
    ...{ url, name, label, sources, targets },
    run(inputs, options) {
      running ??= compiled?.deref() ?? compile()
      return running.run(inputs, options)
    },
  }
}
