import type { ComponentChildren, InputHTMLAttributes } from "preact";
import { useId } from "preact/hooks";

/** What ties an input to its label, its hint and its error. */
export interface FieldBinding {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean | undefined;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly children: (binding: FieldBinding) => ComponentChildren;
}

/** One question of a form. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const isWrong = error !== undefined;
  const isDescribed = isWrong || hint !== undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": isDescribed ? `${id}-more` : undefined,
        "aria-invalid": isWrong || undefined,
      })}
      {isDescribed && (
        <p id={`${id}-more`} class={isWrong ? "wrong" : "hint"} role={isWrong ? "alert" : undefined}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  /** With the text of each, where that is another. */
  readonly options: readonly (string | readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
}

/** One of many. */
export function SelectField({ label, value, options, onChange }: SelectProps) {
  return (
    <Field label={label}>
      {(binding) => (
        <select {...binding} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          {options.map((option) => {
            const [name, text] = typeof option === "string" ? [option, option] : option;
            return (
              <option key={name} value={name}>
                {text}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}

interface TextProps extends Omit<FieldProps, "children"> {
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Further attributes, such as its type. */
  readonly input?: InputHTMLAttributes;
}

/** What people write on one line. */
export function TextField({ value, onInput, input, ...field }: TextProps) {
  return (
    <Field {...field}>
      {(binding) => (
        <input
          autoComplete="off"
          {...input}
          {...binding}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly options: readonly (readonly [value: Value, text: string])[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** One of a few, all in sight. */
export function Choice<Value extends string>({ label, options, value, onChange }: ChoiceProps<Value>) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class="hidden">{label}</legend>
      {options.map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
