// The check of the audit trail against itself and against its anchor, as far as it can be done while people wait.
import type { KeyObject } from 'node:crypto'
import type { Database } from '../db/database.ts'
import type { Transactional } from '../db/statement.ts'
import { settledTexts } from './anchor.ts'
import { type Anchored, readAnchor } from './anchored.ts'
import { type NewestVerdict, verifyNewest } from './verify.ts'

export interface TrailCheckParts {
  readonly database: Database
  /** Of the seals. */
  readonly key: KeyObject
  /** Of the anchor; undefined: the settings name none. */
  readonly file: string | undefined
}

export interface TrailCheck extends NewestVerdict {
  /** Undefined: there is none. */
  readonly anchored: Anchored | undefined
}

/** Reads the anchor of the trail; undefined if there is none yet. */
export async function settledAnchor(database: Database, key: KeyObject, file: string): Promise<Anchored | undefined> {
  const texts = await settledTexts(database, file)
  return texts.length > 0 ? readAnchor(key, texts) : undefined
}

/**
 * Checks the newest rows, at most so many; `isWhole` is about the anchor too.
 * @param on the database as the reader has it, with its deadline
 */
export async function checkNewest(
  { database, key, file }: TrailCheckParts,
  on: Transactional,
  most: number,
): Promise<TrailCheck> {
  // Before the trail, which may be further than its anchor, but never behind it.
  const anchored = file === undefined ? undefined : await settledAnchor(database, key, file)
  const verdict = await verifyNewest(on, key, anchored?.seen ?? [], most)
  return { ...verdict, anchored, isWhole: verdict.isWhole && !anchored?.problems.length }
}
