import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Ready } from "./notice.js";

/**
 * A component whose code is loaded when it is first shown. Its place is kept until then.
 * @param load - of a module of its own, by `import()`.
 */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [data, setData] = useState(() => known);
    const [error, setError] = useState<Error>();
    useEffect(() => {
      load().then((loaded) => {
        known = loaded;
        setData(() => loaded);
      }, setError);
    }, []);
    return <Ready of={{ data, error }}>{(Loaded) => <Loaded {...props} />}</Ready>;
  };
}
