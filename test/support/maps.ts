// The maps of the project as one set, compiled once for all test files of a process.
import { join } from 'node:path'
import { readFolder, type SourceFile } from '../../src/mapping/files.ts'
import { type MappingSet, mappingSet } from '../../src/mapping/set.ts'
import { shapes } from '../../src/shapes/all.ts'

export const mapsFolder = join(import.meta.dirname, '../../mappings')

export const deliveredFiles: readonly SourceFile[] = await readFolder(mapsFolder)

let made: MappingSet | undefined
export const deliveredSet = (): MappingSet => (made ??= mappingSet(deliveredFiles, { shapes }))
