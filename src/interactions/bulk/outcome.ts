// OperationOutcomes as lines of a file (https://hl7.org/fhir/R4/operationoutcome.html).

/** An OperationOutcome of one issue, as a line. @param code of https://hl7.org/fhir/R4/valueset-issue-type.html */
export const outcomeLine = (severity: 'error' | 'warning', code: string, text: string): string =>
  JSON.stringify({
    resourceType: 'OperationOutcome',
    issue: [{ severity, code, details: { text }, diagnostics: text }],
  })
