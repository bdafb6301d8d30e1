// Node's compile cache for the modules of this project, kept for the next process
// (https://nodejs.org/api/module.html#module-compile-cache). JavaScript, so that `node --import` takes it before the first
// TypeScript file: then Node loads nothing that strips types. Where the folder is not writable, modules are compiled each time.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/health-interop'))
