// What the config file holds: each part with its meaning and its defaults.

/** The one file of an agent: JSON, readable by its owner only. */
export interface Config {
  readonly server: {
    /** Address of the service, without /api/v1. */
    readonly url: string
    readonly agent_id: string
    /** `bak_…`; after a rotation the newer key is in the database. */
    readonly agent_key: string
    readonly facility_id?: string
    /** Certificates (PEM) to trust besides the system's. */
    readonly ca_file?: string
  }
  /** Folder of the database; relative to the config file. */
  readonly state_folder: string
  /** File of the key for payloads at rest; the environment's AGENT_DATA_KEY and systemd's credential come first. */
  readonly data_key_file: string
  /** Status page and items by HTTP, on loopback. */
  readonly local: {
    readonly port: number
    /** What programs that post items must send as bearer token. */
    readonly token: string
  }
  /** Whether the server's config may change sources, targets and limits. */
  readonly remote_config: boolean
  readonly log_level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly limits: Limits
  readonly sources: Readonly<Record<string, Source>>
  readonly targets: Readonly<Record<string, Target>>
}

/** Beyond one of these the inputs refuse; warnings come at 50, 80 and 95 %. */
export interface Limits {
  readonly max_items: number
  readonly max_bytes: number
  /** Days that the oldest item has waited. */
  readonly max_age_days: number
  /** Bytes of the disk to be left free. */
  readonly min_free_bytes: number
  /** Largest single message or item, in bytes. */
  readonly max_message_bytes: number
  /** Days for which a message that comes again is recognised. */
  readonly remember_days: number
}

export type Source = MllpSource | FolderSource

export interface MllpSource {
  readonly kind: 'mllp'
  readonly host: string
  readonly port: number
  readonly max_connections: number
  /** Seconds without a byte after which a connection is closed. */
  readonly idle_seconds: number
  /** Seconds within which a message that has begun must be complete. */
  readonly message_seconds: number
  /** Character set to read messages in, whatever MSH-18 says: utf-8, iso-8859-1, … */
  readonly charset?: string
  readonly tls?: { readonly certificate_file: string; readonly key_file: string; readonly client_ca_file?: string }
}

type Format = 'hl7v2' | 'csv' | 'json' | 'ndjson'

export interface FolderSource {
  readonly kind: 'folder'
  readonly path: string
  /** Absent: told from the file's name. */
  readonly format?: Format
  /** Seconds without change after which a file is taken to be complete; 0: who writes there renames when done. */
  readonly settle_seconds: number
  readonly poll_seconds: number
  readonly max_file_bytes: number
  readonly charset?: string
  /** Type of the items of JSON and NDJSON that do not say theirs. */
  readonly type?: string
  readonly csv?: CsvMapping
}

export interface CsvMapping {
  readonly type: string
  readonly delimiter: string
  /** Field of the payload (`patient.name`) to the column it comes from, or a fixed value. */
  readonly fields: Readonly<Record<string, CsvField>>
  /** Column with the time of the event. */
  readonly occurred_at?: string
}

export interface CsvField {
  readonly column?: string
  readonly value?: string | number | boolean
  readonly as: 'text' | 'number' | 'boolean'
  readonly required: boolean
}

/** A system of the clinic to which the server sends HL7 v2 messages over MLLP. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly answer_seconds: number
  /** Certificates (PEM) to trust; absent: without TLS. */
  readonly tls?: { readonly ca_file?: string }
}
