/** What packets are made of, typed so that editors complete the draft's words and private ones pass all the same. */

/** The verbs of section 5.1; others are allowed, and warned of by validators. */
export type Task =
  | 'FETCH'
  | 'PROC'
  | 'FLAG'
  | 'RESOLVE'
  | 'LOG'
  | 'SEND'
  | 'BUILD'
  | 'MERGE'
  | 'CALC'
  | 'REPORT'
  | 'ACK'
  | 'SYNC'
  | (string & {});

/** The domains of section 5.2; implementors may define others. */
export type Domain = 'HR' | 'FIN' | 'SALES' | 'LEGAL' | 'IT' | 'CS' | 'MKT' | (string & {});

/**
 * One value. Numbers are written in plain digits; a list is joined with commas, its items guarded; `null`, `undefined` and
 * the empty list leave the field out.
 */
export type FieldValue = string | number | bigint | readonly string[] | null | undefined;

/** The fields that the draft names. */
export interface DraftFields {
  /** Field 0: the action verb. */
  readonly task: Task;
  /** Field 1: the business domain. */
  readonly domain: Domain;
  /** The agent that receives the result. */
  readonly return: string | readonly string[];
  /** 1 critical, 2 medium, 3 low. */
  readonly p?: 1 | 2 | 3 | '1' | '2' | '3' | null | undefined;
  /** The version of the protocol. @default '1.1' */
  readonly aacp?: string | null | undefined;
  /** The resource that the action applies to. */
  readonly res?: FieldValue;
  /** A time period: `2024-08`. */
  readonly period?: FieldValue;
  /** A filter expression on the resource: `status=active`. */
  readonly filter?: FieldValue;
  /** The fields to return. Left out for receivers that have field lists of their own. */
  readonly fields?: FieldValue;
  /** The format of the response: `json`. */
  readonly fmt?: FieldValue;
  /** Where data comes from. */
  readonly src?: FieldValue;
  /** Where the data of the period before comes from. */
  readonly src_prev?: FieldValue;
  /** The rules to apply. */
  readonly rules?: FieldValue;
  /** What to validate against. */
  readonly validate?: FieldValue;
  /** The template to use. */
  readonly tmpl?: FieldValue;
  /** Where data lies that is not to be in the packet. Left out for receivers that know it. */
  readonly data_ptr?: FieldValue;
  /** An amount. */
  readonly amt?: FieldValue;
  /** The currency of `amt` or `ltv`. */
  readonly ccy?: FieldValue;
  /** The supplier. */
  readonly sup?: FieldValue;
  /** What to match against: a purchase order. */
  readonly match?: FieldValue;
  /** Payment terms. */
  readonly terms?: FieldValue;
  /** The type of a document. */
  readonly type?: FieldValue;
  /** The counterparty. */
  readonly party?: FieldValue;
  /** A clause of a contract. */
  readonly clause?: FieldValue;
  /** What is at issue. */
  readonly issue?: FieldValue;
  /** The level of risk. */
  readonly risk?: FieldValue;
  /** What is blocked meanwhile. */
  readonly block?: FieldValue;
  /** Flags. */
  readonly flags?: FieldValue;
  /** Actions that are required. */
  readonly req?: FieldValue;
  /** What to highlight. */
  readonly highlight?: FieldValue;
  /** A status. */
  readonly status?: FieldValue;
  /** Who it is sent to. */
  readonly to?: FieldValue;
  /** The subject of a message. */
  readonly subj?: FieldValue;
  /** What is attached. */
  readonly att?: FieldValue;
  /** A message that goes with a flag. */
  readonly flag_msg?: FieldValue;
  /** How to talk to people: `empathetic`, `formal`, `terse`. */
  readonly tone?: FieldValue;
  /** How the other side feels; goes with `tone`. */
  readonly sentiment?: FieldValue;
  /** Who acted. */
  readonly actor?: FieldValue;
  /** The agents that took part, in order. */
  readonly chain?: FieldValue;
  /** Progress, from 0 to 1. */
  readonly prog?: FieldValue;
  /** The lifetime value of a customer; goes with `ccy`. */
  readonly ltv?: FieldValue;
  /** The loyalty of a customer. */
  readonly loyalty?: FieldValue;
  /** How urgent it is. */
  readonly urgency?: FieldValue;
}

/**
 * A packet as a flat object: the fields come in the order in which they stand. Keys beyond those of the draft are private
 * ones; section 13 asks for a prefix, such as `org_`.
 */
export interface PacketInput extends DraftFields {
  readonly [key: string]: FieldValue;
}

/**
 * The members of `T`, when each can stand in a field: what an object of any type has to be, an interface without an index
 * signature too.
 */
export type FieldsOf<T> = T extends readonly unknown[] ? never : { readonly [K in keyof T]: FieldValue };
