/**
 * What a schema may say of a field's values (draft-benzing-accp-00, section 6.2, which names fields only). A `string` field
 * is read as the text it is on the wire, so that `42` needs no other spelling.
 */
export const FIELD_TYPES = ['string', 'integer', 'decimal', 'number', 'boolean', 'array', 'map', 'any'] as const;

export type FieldType = (typeof FIELD_TYPES)[number];
