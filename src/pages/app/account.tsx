import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { callApi } from "./parts/api.js";
import { readSettings } from "./parts/settings.js";

interface Me {
  readonly account: string;
  readonly plan: string;
}

function AccountPage({ title }: { readonly title: string }) {
  const [me, setMe] = useState<Me>();
  useEffect(() => {
    callApi<Me>("me").then(setMe, () => {});
  }, []);
  return (
    <main>
      <h1>{title}</h1>
      {me && <p>{me.plan}</p>}
    </main>
  );
}

const place = document.getElementById("page");
if (place !== null) render(<AccountPage title={readSettings<{ title: string }>().title} />, place);
