import dev.openfeature.contrib.providers.flagd.Config;
import dev.openfeature.contrib.providers.flagd.FlagdOptions;
import dev.openfeature.contrib.providers.flagd.FlagdProvider;
import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
import dev.openfeature.sdk.Value;
import java.util.Map;

/** Flags are evaluated in the program's memory, and a change arrives at once. Needs a key of the role server. */
public class CheckoutInProcess {
  public static void main(String[] args) throws InterruptedException {
    Map<String, String> settings = System.getenv();
    FlagdOptions options = FlagdOptions.builder()
        .resolverType(Config.Resolver.IN_PROCESS)
        .host(settings.getOrDefault("HALYARD_FLAGD_HOST", "127.0.0.1"))
        .port(Integer.parseInt(settings.getOrDefault("HALYARD_FLAGD_PORT", "8015")))
        // The provider sends no credentials of its own, so the key travels as the provider's id.
        .providerId(settings.get("HALYARD_API_KEY"))
        // How long to wait for the first flags; a second, the default, is short for a cold start.
        .deadline(10_000)
        .build();
    OpenFeatureAPI api = OpenFeatureAPI.getInstance();
    api.setProviderAndWait(new FlagdProvider(options));
    Client client = api.getClient();
    ImmutableContext user = new ImmutableContext("user-42", Map.of("plan", new Value("pro")));

    String shown = "";
    while (true) {
      boolean isNew = client.getBooleanValue("new-checkout", false, user);
      String text = isNew ? "the new checkout" : "the old checkout";
      if (!text.equals(shown)) System.out.println(text);
      shown = text;
      Thread.sleep(100);
    }
  }
}
