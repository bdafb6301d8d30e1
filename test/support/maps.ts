// The maps of the project as one set, compiled once for all test files of a process.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { readFolder, type SourceFile } from '../../src/mapping/files.ts'
import { type MappingSet, mappingSet } from '../../src/mapping/set.ts'
import { shapes } from '../../src/shapes/all.ts'

export const mapsFolder = join(import.meta.dirname, '../../mappings')

export const deliveredFiles: readonly SourceFile[] = await readFolder(mapsFolder)

let made: MappingSet | undefined
export const deliveredSet = (): MappingSet => (made ??= mappingSet(deliveredFiles, { shapes }))

/** Whether a file is none of HL7 v2's, or belongs to the map of one message, ORU^R01: the others take long to compile. */
export const isOfOneMessage = (name: string): boolean =>
  !name.startsWith('hl7v2/') || /^hl7v2\/(?:datatypes|observations|orders|people|visits|oru-r01-to-fhir)\./.test(name)

/** Copies the maps into a folder that a test changes, of HL7 v2's those of one message. */
export async function copyMaps(folder: string): Promise<void> {
  await cp(mapsFolder, folder, { recursive: true, filter: source => isOfOneMessage(relative(mapsFolder, source)) })
  const messages: { map: string }[] = JSON.parse(await readFile(join(mapsFolder, 'hl7v2/messages.json'), 'utf8'))
  const kept = messages.filter(({ map }) => map === 'hl7v2/oru-r01-to-fhir')
  await writeFile(join(folder, 'hl7v2/messages.json'), JSON.stringify(kept))
}
