// health-interop: the client library (https://www.npmjs.com/package/health-interop).
export { type RequestOptions, ServiceClient } from './client.ts'
export {
  AuthenticationError,
  AuthorizationError,
  ConsentRequiredError,
  type ErrorDetail,
  IdempotencyConflictError,
  NotFoundException,
  RateLimitError,
  ServerError,
  ServiceError,
  type SignatureReason,
  TransportError,
  type TransportReason,
  ValidationError,
  WebhookSignatureError,
} from './errors.ts'
export type { AnyResource, Bundle, BundleEntry, FhirResource, SearchParams, SearchValue } from './fhir.ts'
export type * from './generated/types.ts'
export type { Logger, LogRecord } from './log.ts'
export type { RecordOf, RecordType } from './modules/records.ts'
export type { CallOptions, ClientOptions } from './options.ts'
export type { RateLimit } from './rate-limit.ts'
export { type ResponseInfo, responseOf } from './response.ts'
export type { TokenCache } from './token-cache.ts'
export type { Transport, TransportRequest, TransportResponse } from './transport.ts'
