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

/** Values of a JSON document: objects, list items and primitives, down to `most`. What a resource may cost grows with it. */
export function elementsOf(document: unknown, most = 1_000_000): number {
  const open: unknown[] = [document]
  let count = 0
  while (open.length > 0 && count < most) {
    const value = open.pop()
    count++
    if (typeof value !== 'object' || value === null) continue
    for (const key in value) open.push((value as Record<string, unknown>)[key])
  }
  return count
}
