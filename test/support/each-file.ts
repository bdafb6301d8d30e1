// Run once for every test file, though modules are shared between them: so its hook is registered for each.
import { afterAll } from 'vitest'
import { cleanUp } from './cleanup.ts'

afterAll(cleanUp)
