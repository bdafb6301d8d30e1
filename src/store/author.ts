// Who created a resource, as the column `author` holds it.
import { hash64 } from '../lib/hash.ts'

/** The hash of an author; 0 for the service itself. */
export const authorHash = (author: string | undefined): bigint =>
  author === undefined ? 0n : hash64(`author ${author}`)
