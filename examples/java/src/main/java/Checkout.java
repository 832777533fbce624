import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.openfeature.contrib.providers.ofrep.OfrepProvider;
import dev.openfeature.contrib.providers.ofrep.OfrepProviderOptions;
import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
import dev.openfeature.sdk.Value;
import java.time.Duration;
import java.util.Map;

/** Every evaluation is one request to Halyard. A key of the role client is enough. */
public class Checkout {
  public static void main(String[] args) {
    OfrepProviderOptions options = OfrepProviderOptions.builder()
        .baseUrl(System.getenv().getOrDefault("HALYARD_URL", "http://127.0.0.1:4400"))
        .headers(ImmutableMap.of(
            "Authorization", ImmutableList.of("Bearer " + System.getenv("HALYARD_API_KEY"))))
        .requestTimeout(Duration.ofSeconds(2))
        .build();
    OpenFeatureAPI api = OpenFeatureAPI.getInstance();
    api.setProviderAndWait(OfrepProvider.constructProvider(options));
    Client client = api.getClient();

    ImmutableContext user = new ImmutableContext("user-42", Map.of("plan", new Value("pro")));
    boolean isNew = client.getBooleanValue("new-checkout", false, user);
    System.out.println(isNew ? "the new checkout" : "the old checkout");
    api.shutdown();
  }
}
