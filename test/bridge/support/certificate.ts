// Certificates for tests, made by openssl.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** A certificate that proves itself. @param subject `IP:127.0.0.1` or `DNS:name` */
export function certificate(
  folder: string,
  subject = 'IP:127.0.0.1',
): { readonly certificate_file: string; readonly key_file: string } {
  const files = { certificate_file: join(folder, 'cert.pem'), key_file: join(folder, 'key.pem') }
  const names = ['-subj', `/CN=${subject.split(':')[1]}`, '-addext', `subjectAltName=${subject}`]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30']
  const args = ['req', '-x509', ...kind, '-keyout', files.key_file, '-out', files.certificate_file, ...names]
  execFileSync('openssl', args, { stdio: 'ignore' })
  return files
}
