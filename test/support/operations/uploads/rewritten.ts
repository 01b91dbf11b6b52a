import { isGatewayError } from "../../../../src/errors/gateway-error.js";
import { transcriptionForm } from "../../../../src/protocols/audio/transcription-request.js";
import { FormBody, readFormRequest } from "../../../../src/protocols/shared/form-request.js";
import { requireField } from "../../../../src/protocols/shared/form-values.js";
import type { ReadPart } from "./form-readers.js";
import type { SentForm } from "./odd-forms.js";

/** A form as an upstream gets it, and what the gateway itself has read. */
export interface Rewritten extends SentForm {
  readonly model: string;
  readonly files: readonly ReadPart[];
}

/** The form as the gateway writes it anew. @returns `undefined` when it refuses it. */
export async function rewritten({ type, body }: SentForm): Promise<Rewritten | undefined> {
  try {
    const request = await readFormRequest([body], type, transcriptionForm);
    const model = requireField(request, "model");
    const files = request.files.all.map(({ name, filename, content }) => ({
      ...{ name, filename, payload: content.whole.toString("latin1") },
    }));
    const form = new FormBody(request, new Map([["model", '"at the upstream"']]));
    return { type: form.contentType, body: form.whole, model, files };
  } catch (error) {
    if (isGatewayError(error) && error.status === 400) return undefined;
    throw error;
  }
}
