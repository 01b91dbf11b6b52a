import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { callApi } from "./parts/api.js";
import { readSettings } from "./parts/settings.js";

interface Health {
  readonly operator: string;
}

function OperatorPage({ title }: { readonly title: string }) {
  const [health, setHealth] = useState<Health>();
  useEffect(() => {
    callApi<Health>("health").then(setHealth, () => {});
  }, []);
  return (
    <main>
      <h1>{title}</h1>
      {health && <p>{health.operator}</p>}
    </main>
  );
}

const place = document.getElementById("page");
if (place !== null) render(<OperatorPage title={readSettings().title} />, place);
