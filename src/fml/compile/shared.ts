// Groups that several maps import: compiled for the first of these maps, and taken over by the others.
//
// The names in a group mean what they mean in the map that it stands in, whichever map imports it: its other groups, `uses`,
// constants and concept maps are looked up there and in what that map imports, never in the importer. So a group with the same types
// of parameters has the same code everywhere. What compiling it says about a map (problems, coverage, what must be made) is noted, and
// said again for each map that reaches the group. test/fml/shared-groups.test.ts compares with maps that are compiled alone.

import { type TypeSystem, typeSystem } from '../../fhirpath/types.ts'
import type { FmlMap, Group } from '../ast.ts'
import type { Structures } from '../structures.ts'
import type { Build, GroupCode, Unit } from './scope.ts'

/** What maps that are compiled with the same library have in common. */
export interface Shared {
  readonly system: TypeSystem
  readonly units: Map<FmlMap, Unit>
  /** By group, then by the types it is compiled for. */
  readonly groups: Map<Group, Map<string, SharedGroup>>
}

/** A group compiled for some types, and what that says about each map that reaches it. */
export interface SharedGroup {
  readonly code: GroupCode
  readonly notes: readonly Remark[]
  /** How many rules it has. */
  readonly rules: number
}

/** One thing that compiling a group says about a compilation. */
export type Remark = (build: Build) => unknown

export function newShared(structures: Structures): Shared {
  return { system: typeSystem(structures), units: new Map(), groups: new Map() }
}

/** Says something about the compilation, and notes it for other maps that reach the same group. */
export function say<T>(build: Build, note: (build: Build) => T): T {
  const { notes } = build
  notes?.push(note)
  // What it says in turn, it says again by itself.
  build.notes = undefined
  const result = note(build)
  build.notes = notes
  return result
}

/** Returns what another map has compiled. */
export function sharedGroup(group: Group, key: string, { shared }: Build): SharedGroup | undefined {
  return shared?.groups.get(group)?.get(key)
}

/** Gives other maps the groups that this compilation has compiled. Where there are errors, some of them may be incomplete. */
export function share({ shared, fresh, errors }: Build): void {
  if (!shared || errors > 0) return
  for (const { group, key, made } of fresh) {
    const known = shared.groups.get(group)
    if (known) known.set(key, made)
    else shared.groups.set(group, new Map([[key, made]]))
  }
}

/** Drops what only compiling needs: programs keep their compilation, and are kept much longer. */
export function forget({ groups, constants, defaults, imports, creations, lookups, fresh }: Build): void {
  for (const each of [groups, constants, defaults, imports, lookups]) each.clear()
  for (const each of [creations, fresh]) each.length = 0
}

/** Drops everything that maps had in common, when all of them are compiled. */
export function forgetShared({ units, groups }: Shared): void {
  units.clear()
  groups.clear()
}
