// Finds the place of each segment in the groups of its message; a segment at an unexpected place goes to the nearest group that takes it.

import type { GroupSlot } from './structures.ts'
import type { Tree } from './tree.ts'

interface Open {
  readonly group: GroupSlot
  readonly value: Tree
}

export interface Placed {
  readonly shape: GroupSlot
  readonly tree: Tree
  /** The groups that are open, the innermost last. */
  open: Open[]
}

const UNREPEATED = 'there is one already, and it does not repeat'
const UNKNOWN = 'the message has no place for it'

/** True if a segment has no place in the groups. */
export const isHomeless = (remark: string): boolean => remark === UNREPEATED || remark === UNKNOWN

/** Puts a segment into the tree. Returns what is unusual about its place, if anything is. */
export function place(id: string, value: Tree, placed: Placed): string | undefined {
  for (let depth = placed.open.length - 1; depth >= 0; depth--) {
    const open = placed.open[depth]!
    const inner = takes(open, id)
      ? undefined
      : open.group.slots.find(each => each.kind === 'group' && opens(each, open.value, id))
    if (!inner && !takes(open, id)) continue
    placed.open = placed.open.slice(0, depth + 1)
    descend(inner as GroupSlot | undefined, id, placed)
    return put(id, value, placed)
  }
  const path = pathTo(placed.shape, id)
  if (!path) return UNKNOWN
  placed.open = [{ group: placed.shape, value: placed.tree }]
  for (const group of path) placed.open.push(lastOf(group, placed.open.at(-1)!.value))
  if (!takes(placed.open.at(-1)!, id)) return UNREPEATED
  put(id, value, placed)
  return 'the segment is not at its place'
}

function takes({ group, value }: Open, id: string): boolean {
  return group.slots.some(
    each => each.kind === 'segment' && each.name === id && (each.repeats || value[id] === undefined),
  )
}

/** The first time a group can begin with any of its segments, since others may be missing; anew it begins with some only. */
function opens(group: GroupSlot, held: Tree, id: string): boolean {
  if (held[group.name] === undefined) return pathTo(group, id) !== undefined
  return group.repeats && begins(group, id)
}

function begins({ slots }: GroupSlot, id: string): boolean {
  return slots.some((each, index) =>
    each.kind === 'segment' ? each.begins && each.name === id : index === 0 && begins(each, id),
  )
}

/** Opens a group, and those within it down to the one that takes the segment. */
function descend(group: GroupSlot | undefined, id: string, placed: Placed): void {
  for (const each of group ? [group, ...pathTo(group, id)!] : [])
    placed.open.push(made(each, placed.open.at(-1)!.value))
}

function made(group: GroupSlot, held: Tree): Open {
  const value: Tree = {}
  add(held, group, value)
  return { group, value }
}

function lastOf(group: GroupSlot, held: Tree): Open {
  const found = held[group.name]
  const value = (Array.isArray(found) ? found.at(-1) : found) as Tree | undefined
  return value ? { group, value } : made(group, held)
}

function put(id: string, value: Tree, { open }: Placed): undefined {
  const { group, value: held } = open.at(-1)!
  add(held, group.slots.find(each => each.name === id)!, value)
}

function add(held: Tree, { name, repeats }: { readonly name: string; readonly repeats: boolean }, value: Tree): void {
  if (!repeats) held[name] = value
  else if (Array.isArray(held[name])) held[name].push(value)
  else held[name] = [value]
}

/** The groups that lead to a segment from a group, which may hold it itself. */
function pathTo(group: GroupSlot, id: string): GroupSlot[] | undefined {
  if (group.slots.some(each => each.kind === 'segment' && each.name === id)) return []
  for (const each of group.slots) {
    const path = each.kind === 'group' ? pathTo(each, id) : undefined
    if (path) return [each as GroupSlot, ...path]
  }
  return undefined
}
