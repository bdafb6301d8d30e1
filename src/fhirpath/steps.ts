// What an evaluation costs, counted in steps where the work is done, so that neither data nor expressions take longer than they may.
import { tooCostly } from './errors.ts'

/** The steps that are left. One step stands for the work of looking at one value, or at some characters of a text. */
export interface Steps {
  budget: number
}

/** Counts work. @throws TooCostly beyond the budget. */
export function spend(steps: Steps, count = 1): void {
  if ((steps.budget -= count) < 0) throw tooCostly()
}

/** Counts work on each character of a text. */
export function spendText(steps: Steps, length: number): void {
  if (length >= 32) spend(steps, length >> 5)
}

/** Values of a JSON document, however deep: objects, list items and primitives. What a resource may cost grows with it. */
export function elementsOf(document: unknown): number {
  const open: object[] = []
  let count = 0
  const look = (value: unknown): void => {
    count++
    if (typeof value === 'object' && value !== null) open.push(value)
  }
  look(document)
  for (let value = open.pop(); value; value = open.pop()) {
    if (Array.isArray(value)) for (const item of value) look(item)
    else for (const key in value) look((value as Record<string, unknown>)[key])
  }
  return count
}
