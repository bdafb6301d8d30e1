// Node's compile cache for the modules of this project, kept for the next process
// (https://nodejs.org/api/module.html#module-compile-cache).
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/**
 * Keeps the compiled form of every module loaded from now on, next to the packages. Where the folder is not writable, modules are
 * compiled each time.
 */
export function keepCompiled(): void {
  enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/health-interop'))
}
