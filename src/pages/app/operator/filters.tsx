import { Field } from "../parts/field.js";
import { viewLink } from "./query.js";
import { texts } from "./settings.js";

/** A filter of a view: one of `options`, or any text. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly options?: readonly (readonly [value: string, text: string])[];
}

interface FiltersProps {
  readonly view: string;
  readonly filters: readonly Filter[];
  readonly values: Readonly<Record<string, string>>;
}

/** They stand in the address, so that what is filtered can be linked and gone back to. */
export function Filters({ view, filters, values }: FiltersProps) {
  return (
    <form
      // What stands in its fields is of this address.
      key={JSON.stringify(values)}
      class="filters"
      role="search"
      aria-label={texts.filter}
      onSubmit={(event) => {
        event.preventDefault();
        const given = Object.fromEntries(
          [...new FormData(event.currentTarget)].map(([name, text]) => [name, String(text).trim()]),
        );
        location.hash = viewLink(view, given);
      }}
    >
      {filters.map(({ name, label, hint, options }) => (
        <Field key={name} label={label}>
          {({ id }) =>
            options === undefined ? (
              <input
                id={id}
                name={name}
                type="search"
                title={hint}
                placeholder={hint}
                defaultValue={values[name]}
                autoComplete="off"
                maxLength={256}
              />
            ) : (
              <select id={id} name={name} onChange={({ currentTarget }) => currentTarget.form?.requestSubmit()}>
                {options.map(([value, text]) => (
                  <option key={value} value={value} selected={value === (values[name] ?? "")}>
                    {text}
                  </option>
                ))}
              </select>
            )
          }
        </Field>
      ))}
      <button type="submit">{texts.filter}</button>
      {Object.keys(values).length > 0 && (
        <a class="button" href={`#${view}`}>
          {texts.clear}
        </a>
      )}
    </form>
  );
}
