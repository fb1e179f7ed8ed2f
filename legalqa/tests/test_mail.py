"""One address of a mail server becomes Django's settings, or a message without the password."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from legalqa import mail


def test_an_address_is_taken_apart():
    made = mail.settings_of("smtp+tls://ann%40x:p%2Fw@mail.example.org")

    assert made["EMAIL_HOST"] == "mail.example.org"
    assert (made["EMAIL_PORT"], made["EMAIL_USE_TLS"], made["EMAIL_USE_SSL"]) == (587, True, False)
    assert (made["EMAIL_HOST_USER"], made["EMAIL_HOST_PASSWORD"]) == ("ann@x", "p/w")
    assert mail.settings_of("smtps://h")["EMAIL_PORT"] == 465
    assert mail.settings_of("")["EMAIL_BACKEND"].endswith("console.EmailBackend")


@pytest.mark.parametrize(
    "url", ["mail.example.org", "http://x", "smtp://:25", "smtp://u:secret@h:x"]
)
def test_what_is_no_address_stops_the_start_without_telling_the_password(url):
    with pytest.raises(ImproperlyConfigured, match="LEGALQA_MAIL_URL") as caught:
        mail.settings_of(url)

    assert "secret" not in str(caught.value)
