// How values are read in operators and functions: which System type a value counts as, and what it is in JSON again.
// Numbers are JS numbers or Decimal, dates and times are their text, quantities are Quantity objects.

import { Decimal, isNumeric } from './decimal.ts'
import type { Items, Typed } from './node.ts'
import { Quantity } from './quantity.ts'
import { systemType, type TypeSystem } from './types.ts'

/** The type of a value that nothing else is known about. */
export function typeOfJson(system: TypeSystem, value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeOfPrimitive(value)
  if (value instanceof Decimal) return 'System.Decimal'
  if (value instanceof Quantity) return 'System.Quantity'
  const name: unknown = Object.hasOwn(value, 'resourceType')
    ? (value as { resourceType: unknown }).resourceType
    : undefined
  if (typeof name === 'string') return system.model.typeModel(name)?.kind === 'resource' ? name : ''
  return isNumeric(value) ? 'System.Decimal' : ''
}

function typeOfPrimitive(value: unknown): string {
  if (typeof value === 'string') return 'System.String'
  if (typeof value === 'boolean') return 'System.Boolean'
  if (typeof value === 'number') return Number.isInteger(value) ? 'System.Integer' : 'System.Decimal'
  return ''
}

/** The System type an item is read as; undefined for complex values and for primitives without a value. */
export function kindOf(item: Typed): string | undefined {
  if (item.value === undefined) return undefined
  return systemType(item.type) ?? (item.type === '' ? typeOfPrimitive(item.value) || undefined : undefined)
}

/** The text of a string-like item. */
export function stringOf(item: Typed | undefined): string | undefined {
  return typeof item?.value === 'string' ? item.value : undefined
}

/** A whole number, wherever one is needed as an argument. */
export function integerOf(item: Typed | undefined): number | undefined {
  return typeof item?.value === 'number' && Number.isInteger(item.value) ? item.value : undefined
}

/** The item's value as plain JSON. */
export function toJson(item: Typed): unknown {
  const { value } = item
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Decimal) return value.toJSON()
  return value instanceof Quantity ? value.toJSON() : value
}

/** The items that have a value, as callers see them: no internal number or quantity objects. */
export function toResults(items: Items): Items {
  return items.some(needsConversion) ? items.filter(hasValue).map(item => ({ ...item, value: toJson(item) })) : items
}

function needsConversion({ value }: Typed): boolean {
  return value === undefined || value instanceof Decimal || value instanceof Quantity
}

function hasValue(item: Typed): boolean {
  return item.value !== undefined
}
