// npm run map -- new: begins a map between two types.

import { writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { lastSegment, type Structures } from '../../fml/structures.ts'
import { type CommandResult, UsageError } from '../../lib/command.ts'
import { nearest } from '../../lib/nearest.ts'
import { isMap, readFolder } from '../../mapping/files.ts'
import { OWN, resourcesIn } from '../../mapping/resources.ts'
import type { MapCall, MapCommand } from './command.ts'
import { pathHere } from './paths.ts'

/** What the URLs of the maps of this project begin with. */
const MAPS = `${OWN}/StructureMap`

export const create: MapCommand = {
  name: 'new',
  usage: 'FROM TO [--output FILE]',
  summary: 'Draft a map from one type to another',
  details: [
    'FROM and TO are types: AllergyRecord, Patient, or the URL of a structure. Elements that are probably the same',
    'get a rule; the others are comments. Review every line.',
  ].join('\n'),
  options: {
    output: {
      value: 'FILE',
      meaning: 'the file to write, in the folder of maps if it is a bare name (default standard output)',
    },
  },
  run,
}

async function run(call: MapCall): Promise<CommandResult> {
  const [from, to] = call.files
  if (from === undefined || to === undefined || call.files.length > 2)
    throw new UsageError('specify two types: FROM TO')
  const { draftMap } = await import('../../mapping/draft/draft.ts')
  const { structures } = resourcesIn(await readFolder(call.folder).catch(() => []), call.shapes)
  const ends = [urlNamed(from, structures), urlNamed(to, structures)] as const
  const output = call.text('output')
  const name = output === undefined ? ends.map(each => kebab(lastSegment(each))).join('-to-') : basename(output, '.fml')
  const text = draftMap(`${MAPS}/${name}`, ...ends, structures)
  if (output === undefined) return { isGood: true, text, json: { text } }
  const path = placeFor(output, call)
  await writeFile(path, text, { flag: 'wx' }).catch(error => {
    throw new UsageError(error.code === 'EEXIST' ? `${shownPath(path)} already exists` : error.message)
  })
  return {
    isGood: true,
    text: `Wrote ${shownPath(path)}: npm run map -- check reports what is missing\n`,
    json: { output: shownPath(path), text },
  }
}

/** A bare name is a map of the folder, where `check` and the service look; a path is a path. */
function placeFor(output: string, { folder }: Pick<MapCall, 'folder'>): string {
  if (output !== basename(output)) return pathHere(output)
  return join(folder, isMap(output) ? output : `${output}.fml`)
}

function shownPath(path: string): string {
  const shown = relative(process.cwd(), path)
  return shown.startsWith('..') ? path : shown
}

/** The URL of a structure, by itself or by the name of its type. */
function urlNamed(given: string, structures: Structures): string {
  if (structures.byUrl(given) !== undefined) return given
  const found = structures.urls.find(url => structures.byUrl(url) === given)
  if (found !== undefined) return found
  const meant = nearest(given, structures.urls.map(lastSegment))
  throw new UsageError(`there is no type ${given}${meant ? `; did you mean ${meant}?` : ''}`)
}

function kebab(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
}
