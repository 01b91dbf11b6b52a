import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { ApiError } from "../parts/api.js";
import { Question } from "../parts/dialog.js";
import { Field, SelectField, TextField } from "../parts/field.js";
import { announce } from "../parts/live-region.js";
import { texts } from "./settings.js";

/** A question of a form. */
export interface FormField {
  /** As the API has it. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Default: `text`. `lines`: one value a line. */
  readonly kind?: "text" | "number" | "date" | "lines";
  readonly value?: string;
  readonly isOptional?: boolean;
  /** The only values. */
  readonly options?: readonly (readonly [value: string, text: string])[];
  /** What is offered to choose from. */
  readonly known?: readonly string[];
}

/** What stands in a form, by the names of its fields. */
export type FormValues = Readonly<Record<string, string>>;

interface ChangeFormProps {
  readonly title: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly fields?: readonly FormField[];
  /** What it does, in a sentence. */
  readonly more?: string | undefined;
  readonly children?: ComponentChildren;
  /** Makes the change. @param values - what stands in the fields, and the note. */
  readonly send: (values: FormValues) => Promise<unknown>;
  readonly onClose: () => void;
}

const note: FormField = { name: "note", label: texts.note, hint: texts.noteHint, isOptional: true };

/** Asks what a change needs, and why it is made. */
export function ChangeForm(props: ChangeFormProps) {
  const { title, action, isDangerous = false, fields = [], more, children, send, onClose } = props;
  const all = [...fields, note];
  const [values, setValues] = useState<FormValues>(() =>
    Object.fromEntries(all.map(({ name, value = "" }) => [name, value])),
  );
  const [refusal, setRefusal] = useState<ApiError>();
  const act = async () => {
    setRefusal(undefined);
    try {
      await send(values);
    } catch (error) {
      if (error instanceof ApiError) setRefusal(error);
      throw error;
    }
    announce(texts.done);
  };
  return (
    <Question {...{ title, action, isDangerous, act, onClose }}>
      {more && <p class="muted">{more}</p>}
      {children}
      {all.map((field) => (
        <FormInput
          key={field.name}
          field={field}
          value={values[field.name] ?? ""}
          error={refusal?.param?.split(".")[0] === field.name ? refusal.message : undefined}
          onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
    </Question>
  );
}

interface FormInputProps {
  readonly field: FormField;
  readonly value: string;
  readonly error?: string | undefined;
  readonly onChange: (value: string) => void;
}

export function FormInput({ field, value, error, onChange }: FormInputProps) {
  const { label, hint, kind = "text", isOptional, options, known } = field;
  const list = useId();
  const required = !isOptional;
  if (options !== undefined) return <SelectField label={label} options={options} value={value} onChange={onChange} />;
  if (kind === "lines") {
    return (
      <Field label={label} hint={hint} error={error}>
        {(binding) => (
          <textarea
            {...binding}
            {...{ value, required }}
            rows={3}
            spellcheck={false}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
        )}
      </Field>
    );
  }
  const input = {
    ...{ type: kind, required, maxLength: 1000 },
    ...(kind === "number" && { step: "any" }),
    ...(known && { list }),
  };
  return (
    <>
      <TextField label={label} hint={hint} error={error} value={value} input={input} onInput={onChange} />
      {known && (
        <datalist id={list}>
          {known.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** The lines of a field that are not empty. */
export function linesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => line.trim() || []);
}
