/** What the parts of messages are called in the JSON Schema. */
import * as z from 'zod/mini';

export const names = z.registry<{ id?: string; title?: string; description?: string; format?: string }>();
