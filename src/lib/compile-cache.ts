// What Node makes of the modules of this project, kept for the next process (https://nodejs.org/api/module.html#module-compile-cache).
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/**
 * Keeps what Node makes of every module that is loaded from now on, beside the packages. Where nobody may write, it is made
 * anew each time.
 */
export function keepCompiled(): void {
  enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/health-interop'))
}
