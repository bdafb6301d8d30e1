// An operation on the audit trail: one entry for all that it reads, however many resources that takes.
import type { Access } from './access.ts'
import type { Principal } from './principal.ts'

/** How the trail names an operation. */
export interface AuditedOperation extends Pick<Access, 'type' | 'id'> {
  readonly query: string
}

/** The outcome of an operation, and the data that it discloses or concerns. */
export interface Shown<T> extends Pick<Access, 'patients' | 'resources'> {
  readonly result: T
  /** Of the resource, if it is known only now. */
  readonly id?: string | undefined
}

/**
 * Runs an operation and records it on the audit trail once it has succeeded. The work acts for a caller whose reads are part of the
 * operation and not recorded one by one; changes are. Of an operation that fails, the trail records the request (audit/attempt.ts).
 */
export async function asOperation<Of extends Principal, T>(
  caller: Of,
  operation: AuditedOperation,
  work: (caller: Of) => Promise<Shown<T>>,
): Promise<T> {
  const { result, ...shown } = await work(inOperation(caller))
  caller.witness?.({ deed: 'operation', ...operation, ...shown })
  return result
}

/**
 * A caller whose reads belong to what is recorded otherwise, as an operation or as a change: they are not recorded themselves. Nothing
 * of them may reach the caller except by that.
 */
export const inOperation = <Of extends Principal>(caller: Of): Of => ({ ...caller, isInOperation: true })
