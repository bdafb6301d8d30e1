// A failure as an OperationOutcome (https://hl7.org/fhir/R4/operationoutcome.html).
import type { OperationOutcome, OperationOutcomeIssue } from '@medplum/fhirtypes'
import { bounded, type Failure, mostDetails } from './failure.ts'

/** Issue codes are FHIR's own under /api/fhir/R4, where this type is used. */
type IssueCode = OperationOutcomeIssue['code']

/** The outcome: an issue for each detail, or one of the whole. */
export function operationOutcome(failure: Failure): OperationOutcome {
  const { details = [] } = failure.options
  if (details.length === 0) {
    const text = bounded(failure.message)
    return {
      resourceType: 'OperationOutcome',
      issue: [
        {
          severity: 'error',
          code: failure.issue as IssueCode,
          details: { text },
          diagnostics: text,
        },
      ],
    }
  }
  const issue = details.slice(0, mostDetails).map(({ field, code, message, severity = 'error' }) => ({
    severity,
    code: code as IssueCode,
    details: { text: bounded(message) },
    diagnostics: bounded(message),
    ...(field ? { expression: [bounded(field)] } : {}),
  }))
  return { resourceType: 'OperationOutcome', issue }
}
