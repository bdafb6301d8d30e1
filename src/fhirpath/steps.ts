// What an evaluation costs, counted in steps where the work is done, so that neither data nor expressions take longer than they may.
import { tooCostly } from './errors.ts'

/** The steps that are left. One step stands for the work of looking at one value, or at some characters of a text. */
export interface Steps {
  budget: number
}

/** Counts work. @throws TooCostly when more is done than may be. */
export function spend(steps: Steps, count = 1): void {
  if ((steps.budget -= count) < 0) throw tooCostly()
}

/** Counts work on each character of a text. */
export function spendText(steps: Steps, length: number): void {
  if (length >= 32) spend(steps, length >> 5)
}

/**
 * Values of a JSON document: objects, list items and primitives. What a resource may cost grows with it. Bodies have at most 100
 * levels, so this may be recursive.
 */
export function elementsOf(document: unknown): number {
  if (typeof document !== 'object' || document === null) return 1
  let count = 1
  if (Array.isArray(document)) for (const item of document) count += elementsOf(item)
  else for (const key in document) count += elementsOf((document as Record<string, unknown>)[key])
  return count
}
